#include "launcher/process/program.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace ddprun::process {
namespace {

int check(const std::string& path, int directory) {
  struct stat info {};
  if (::fstatat(directory, path.c_str(), &info, 0) != 0) return errno;
  if (S_ISDIR(info.st_mode)) return EISDIR;
  if (::faccessat(directory, path.c_str(), X_OK, 0) != 0) return errno;
  return 0;
}

}  // namespace

ProgramFile find_program(const std::string& name, std::string_view search_path, int directory) {
  if (name.find('/') != std::string::npos) return {name, check(name, directory)};
  ProgramFile best{"", ENOENT};
  while (!name.empty()) {
    const std::size_t colon = search_path.find(':');
    const std::string_view folder = search_path.substr(0, colon);
    std::string path = folder.empty() ? "./" + name : std::string(folder) + "/" + name;
    const int error = check(path, directory);
    if (error == 0) return {std::move(path), 0};
    // Like execvp, which goes on after EACCES and reports it only when nothing else was found.
    if (error == EACCES && best.error == ENOENT) best = {std::move(path), error};
    if (colon == std::string_view::npos) break;
    search_path.remove_prefix(colon + 1);
  }
  return best;
}

}  // namespace ddprun::process
