#include "rendezvous/guard/secret_file.h"

#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

namespace ddprun::guard {

Result<void> check_secret(int file, const std::string& name, const std::string& what) {
  struct stat status {};
  if (::fstat(file, &status) != 0) return Error{name + ": " + std::strerror(errno)};
  const bool readable = (status.st_mode & (S_IROTH | S_IXOTH)) != 0;
  const bool writable = (status.st_mode & (S_IWOTH | S_IWGRP)) != 0;
  if (!readable && !writable) return {};
  std::array<char, 8> mode{};
  std::snprintf(mode.data(), mode.size(), "%04o", static_cast<unsigned>(status.st_mode & 07777));
  return Error{name + " has mode " + mode.data() + ", so that others can " +
               (readable ? "read " : "change ") + what + "; chmod 600 " + name + ", and replace " +
               what + " if they may have done so"};
}

}  // namespace ddprun::guard
