#include "rendezvous/server/port_holder.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <iterator>
#include <optional>
#include <sstream>
#include <system_error>

#include "rendezvous/base/command_of.h"
#include "rendezvous/base/read_file.h"

namespace ddprun::server {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kListening = "0A";

template <class Integer>
std::optional<Integer> parse(std::string_view text, int base) {
  Integer number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

bool holds_one_of(const fs::path& process, const std::vector<std::uint64_t>& inodes) {
  std::error_code error;
  for (fs::directory_iterator fd(process / "fd", error), end; !error && fd != end;
       fd.increment(error)) {
    std::error_code gone;
    const std::string target = fs::read_symlink(fd->path(), gone).string();
    for (const std::uint64_t inode : inodes) {
      if (target == "socket:[" + std::to_string(inode) + "]") return true;
    }
  }
  return false;
}

}  // namespace

std::vector<std::uint64_t> sockets_on_port(std::string_view table, std::uint16_t port) {
  std::vector<std::uint64_t> listening;
  std::vector<std::uint64_t> others;
  std::istringstream lines{std::string(table)};
  for (std::string line; std::getline(lines, line);) {
    // sl local_address rem_address st tx:rx tr:when retrnsmt uid timeout inode …
    std::istringstream words(line);
    const std::vector<std::string> fields{std::istream_iterator<std::string>(words), {}};
    if (fields.size() < 10) continue;
    const std::size_t colon = fields[1].rfind(':');
    if (colon == std::string::npos) continue;
    const auto local_port = parse<std::uint16_t>(std::string_view(fields[1]).substr(colon + 1), 16);
    const auto inode = parse<std::uint64_t>(fields[9], 10);
    if (local_port != port || !inode || *inode == 0) continue;
    (fields[3] == kListening ? listening : others).push_back(*inode);
  }
  listening.insert(listening.end(), others.begin(), others.end());
  return listening;
}

std::string describe_port_holder(std::uint16_t port) {
  std::vector<std::uint64_t> inodes =
      sockets_on_port(read_file("/proc/net/tcp").value_or(""), port);
  const std::vector<std::uint64_t> ipv6 =
      sockets_on_port(read_file("/proc/net/tcp6").value_or(""), port);
  inodes.insert(inodes.end(), ipv6.begin(), ipv6.end());
  if (inodes.empty()) return "a process that /proc does not show";
  std::error_code error;
  for (fs::directory_iterator process("/proc", error), end; !error && process != end;
       process.increment(error)) {
    const auto pid = parse<pid_t>(process->path().filename().string(), 10);
    if (!pid || !holds_one_of(process->path(), inodes)) continue;
    return "pid " + std::to_string(*pid) + " (" + command_of(*pid) + ")";
  }
  return "a process of another user or container";
}

}  // namespace ddprun::server
