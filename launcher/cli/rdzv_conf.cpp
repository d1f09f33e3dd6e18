#include "launcher/cli/rdzv_conf.h"

#include <algorithm>
#include <string>

#include "launcher/cli/nearest.h"

namespace ddprun::cli {
namespace {

// c10d, static and both kinds of etcd.
constexpr std::string_view kKeys[] = {
    "timeout",
    "join_timeout",
    "last_call_timeout",
    "close_timeout",
    "read_timeout",
    "heartbeat_timeout",
    "keep_alive_interval",
    "keep_alive_max_attempt",
    "store_type",
    "is_host",
    "rank",
    "etcd_prefix",
    "protocol",
    "cert",
    "key",
    "cacert",
    "ssl_cert",
    "ssl_cert_key",
    "ca_cert",
    "use_libuv",
};

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

}  // namespace

Result<std::vector<std::string_view>> unknown_conf_keys(std::string_view text) {
  std::vector<std::string_view> unknown;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view item = text.substr(begin, end - begin);
    begin = end + 1;
    const auto equals = std::min(item.find('='), item.size());
    const std::string_view key = trimmed(item.substr(0, equals));
    const std::string_view value = trimmed(item.substr(std::min(item.size(), equals + 1)));
    if (key.empty() || value.empty()) {
      return Error{"'" + std::string(text) + "' is not KEY=VALUE,...: there is no " +
                   (key.empty() ? "key" : "value for '" + std::string(key) + "'")};
    }
    if (std::ranges::find(kKeys, key) == std::end(kKeys)) unknown.push_back(key);
  }
  return unknown;
}

std::string did_you_mean_conf_key(std::string_view key) {
  return did_you_mean(key, kKeys);
}

}  // namespace ddprun::cli
