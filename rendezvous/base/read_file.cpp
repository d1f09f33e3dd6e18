#include "rendezvous/base/read_file.h"

#include <fcntl.h>
#include <unistd.h>

#include "rendezvous/base/unique_fd.h"

namespace ddprun {

std::optional<std::string> read_file(const std::string& path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return {};
  std::string text;
  char buffer[4096];
  ssize_t got = 0;
  while ((got = ::read(file.get(), buffer, sizeof buffer)) > 0)
    text.append(buffer, static_cast<std::size_t>(got));
  if (got < 0) return {};
  return text;
}

}  // namespace ddprun
