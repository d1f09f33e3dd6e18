// Files that the user named for results: --report and --events.
#pragma once

#include <string>
#include <string_view>

#include "rendezvous/base/result.h"

namespace ddprun::report {

// "--report: cannot write '/no/such/x': no such file or directory".
std::string cannot_write(std::string_view option, const std::string& path, int error);

// Says before anything is started whether replace_file() could work on `path`. Leaves no trace.
Result<void> check_replaceable(std::string_view option, const std::string& path);

// The same for a file that is made or appended to, as EventLog::open() does.
Result<void> check_appendable(std::string_view option, const std::string& path);

// Puts `text` there so that a reader sees the old file or the whole new one: written beside it,
// then renamed. A symbolic link stays and its target is replaced. What is no plain file (a device,
// a named pipe, /dev/fd/N) is written to as it is; a pipe that nobody reads is an error after two
// seconds.
Result<void> replace_file(std::string_view option, const std::string& path, std::string_view text);

}  // namespace ddprun::report
