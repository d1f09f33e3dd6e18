// Any text as --hosts and as a --hostfile: what is accepted is named, bounded and written again as
// the same, each host is there once in the end, and what is refused says why.
#include <cstdint>
#include <set>

#include "launcher/hosts/read_hosts.h"
#include "tests/fuzz/checks.h"

namespace {

using namespace ddprun;
using fuzz::require;

using Hosts = std::vector<hosts::Host>;

std::string list_of(const Hosts& all) {
  std::string list;
  for (const hosts::Host& host : all) list += (list.empty() ? "" : ",") + hosts::text_of(host);
  return list;
}

void check_once(const Hosts& all) {
  const auto once = hosts::each_once(all);
  if (!once) return require(!once.error().text.empty());
  // Another port leads to another sshd, which may be in a container of its own.
  std::set<std::pair<std::string, std::optional<std::uint16_t>>> names;
  for (const hosts::Host& host : *once) require(names.emplace(host.name, host.port).second);
  for (const hosts::Host& host : all) require(names.contains({host.name, host.port}));
}

void check(const Result<Hosts>& read) {
  if (!read) return require(!read.error().text.empty());
  require(!read->empty() && read->size() <= hosts::kMostHosts);
  for (const hosts::Host& host : *read) {
    require(!host.name.empty() && host.name.find_first_of(" ,[]\n") == std::string::npos);
    require(!host.slots || (*host.slots >= 0 && *host.slots <= hosts::kMostSlots));
    // Neither may become an option of ssh.
    require(!host.name.starts_with('-') && !host.user.starts_with('-'));
  }
  const auto again = hosts::read_list(list_of(*read));
  require(again && *again == *read);
  check_once(*read);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::view_of(data, size);
  check(hosts::read_list(text));
  check(hosts::read_hostfile(text));
  return 0;
}
