// Any text as --rdzv-conf: what is accepted keeps its limits and means the same when it is said
// again, each key that nobody knows is remembered, what is refused says why.
#include <cstdint>

#include "launcher/cli/rdzv_conf.h"
#include "tests/fuzz/checks.h"

namespace {

using namespace ddprun;
using fuzz::require;

auto members(const cli::RendezvousConf& conf) {
  return std::tuple(conf.join_timeout, conf.last_call_timeout, conf.read_timeout,
                    conf.keep_alive_interval, conf.keep_alive_max_attempt, conf.reconnect_timeout,
                    conf.grow, conf.is_host);
}

void check_limits(const cli::RendezvousConf& conf) {
  for (const auto time : {conf.join_timeout, conf.read_timeout, conf.keep_alive_interval})
    require(time.count() > 0);
  require(conf.last_call_timeout.count() >= 0 && conf.reconnect_timeout.count() >= 0);
  require(conf.keep_alive_max_attempt >= 1);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::view_of(data, size);
  const auto read = cli::read_conf(text);
  if (!read) {
    require(!read.error().text.empty());
    return 0;
  }
  check_limits(read->conf);
  const auto again = cli::read_conf(text, *read);
  require(again && members(again->conf) == members(read->conf));
  for (const std::string& key : read->unknown) {
    require(!key.empty() && text.find(key) != std::string_view::npos);
    cli::did_you_mean_conf_key(key);
  }
  return 0;
}
