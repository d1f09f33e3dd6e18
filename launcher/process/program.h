// Finds the file that a program name means, as execvp does.
#pragma once

#include <fcntl.h>

#include <string>
#include <string_view>

namespace ddprun::process {

// What execvp searches where there is no PATH.
inline constexpr std::string_view kDefaultPath = "/bin:/usr/bin";

struct ProgramFile {
  std::string path;  // what to give to execve; empty when the search found nothing
  int error = 0;     // 0: found and executable; otherwise ENOENT, EACCES, …
};

// A name with a slash is taken as it is; others are searched in `search_path` (the text of PATH;
// empty entries mean the current folder). A file that is there but not executable is EACCES only if
// no later folder has a better one. Relative paths are relative to `directory` (a descriptor;
// AT_FDCWD: where this process is), in which the program is to be started.
ProgramFile find_program(const std::string& name, std::string_view search_path,
                         int directory = AT_FDCWD);

}  // namespace ddprun::process
