// Where the core dump of a worker is, as far as can be known.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

namespace ddprun::report {

// The process that has dumped its core.
struct CoreSubject {
  pid_t pid = 0;
  int signal = 0;
  std::string program;  // as it was executed
  std::string folder;   // its working directory, absolute
  std::string host;
  uid_t uid = 0;
  gid_t gid = 0;
};

// Either a file or a program that has taken the core.
struct CorePlace {
  std::string file;     // absolute; `*` stands for what only the kernel knew. Empty: a program
  std::string handler;  // the program
};

// Expands the text of /proc/sys/kernel/core_pattern as core(5) says; `uses_pid` is core_uses_pid
// beside it. Pure.
CorePlace core_place(std::string_view pattern, bool uses_pid, const CoreSubject& subject);

// "core: /home/me/core.4711", "core: taken by '/usr/lib/systemd/systemd-coredump' (coredumpctl info
// 4711)". `found` is the file that is really there; empty when there is none. Pure.
std::string core_line(const CorePlace& place, const std::string& found, pid_t pid);

// Reads the pattern, looks for the file and says where the core is.
std::string find_core(const CoreSubject& subject);

}  // namespace ddprun::report
