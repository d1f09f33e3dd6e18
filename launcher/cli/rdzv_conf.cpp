#include "launcher/cli/rdzv_conf.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "launcher/cli/values.h"
#include "rendezvous/base/nearest.h"

namespace ddprun::cli {
namespace {

using Milliseconds = std::chrono::milliseconds;

constexpr std::size_t kSlip = 2;  // letters

// A time, and whether it may be 0.
struct TimeKey {
  std::string_view name;
  Milliseconds RendezvousConf::*member;
  bool may_be_zero = false;
};

constexpr TimeKey kTimes[] = {
    {"timeout", &RendezvousConf::join_timeout},
    {"join_timeout", &RendezvousConf::join_timeout},
    {"last_call_timeout", &RendezvousConf::last_call_timeout, true},
    {"read_timeout", &RendezvousConf::read_timeout},
    {"keep_alive_interval", &RendezvousConf::keep_alive_interval},
    {"reconnect_timeout", &RendezvousConf::reconnect_timeout, true},
};

// Of c10d, static and both kinds of etcd. The last call, say, is over when a connection has closed,
// so closing needs no limit of its own.
constexpr std::string_view kIdle[] = {
    "close_timeout", "heartbeat_timeout", "store_type",   "rank",
    "etcd_prefix",   "protocol",          "cert",         "key",
    "cacert",        "ssl_cert",          "ssl_cert_key", "ca_cert",
    "use_libuv",
};

std::vector<std::string_view> known_keys() {
  std::vector<std::string_view> keys{"keep_alive_max_attempt", "is_host", "grow"};
  for (const TimeKey& time : kTimes) keys.push_back(time.name);
  keys.insert(keys.end(), std::begin(kIdle), std::end(kIdle));
  return keys;
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

Error wrong(std::string_view key, const std::string& why) {
  return Error{std::string(key) + "=" + why};
}

// Torchrun takes all of these, in any case.
Result<bool> read_switch(std::string_view key, std::string_view text) {
  std::string word(text);
  std::ranges::transform(word, word.begin(), [](unsigned char c) { return std::tolower(c); });
  for (const std::string_view on : {"1", "true", "t", "yes", "y", "on"})
    if (word == on) return true;
  for (const std::string_view off : {"0", "false", "f", "no", "n", "off"})
    if (word == off) return false;
  return wrong(key, std::string(text) + " is neither yes nor no; write 1 or 0");
}

Result<void> set_time(const TimeKey& time, std::string_view text, RendezvousConf& conf) {
  const Result<Milliseconds> value = read_seconds(text, kLongestJob);
  if (!value) return Error{std::string(time.name) + ": " + value.error().text};
  if (value->count() == 0 && !time.may_be_zero)
    return wrong(time.name, std::string(text) + " leaves no time; write the seconds");
  conf.*time.member = *value;
  return {};
}

template <class Target>
Result<void> set_switch(std::string_view key, std::string_view text, Target& target) {
  const Result<bool> on = read_switch(key, text);
  if (!on) return on.error();
  target = *on;
  return {};
}

// Sets the key that changes something; false: there is no such key.
Result<bool> set_key(std::string_view key, std::string_view text, RendezvousConf& conf) {
  Result<void> set;
  if (const auto* time = std::ranges::find(kTimes, key, &TimeKey::name); time != std::end(kTimes)) {
    set = set_time(*time, text, conf);
  } else if (key == "keep_alive_max_attempt") {
    const Result<int> count = read_integer(text, 1, 1'000'000);
    if (!count) return Error{std::string(key) + ": " + count.error().text};
    conf.keep_alive_max_attempt = *count;
  } else if (key == "is_host") {
    set = set_switch(key, text, conf.is_host);
  } else if (key == "grow") {
    set = set_switch(key, text, conf.grow);
  } else {
    return false;
  }
  if (!set) return set.error();
  return true;
}

Result<void> read_item(std::string_view key, std::string_view value, ReadConf& result) {
  const Milliseconds join_timeout = result.conf.join_timeout;
  const Result<bool> set = set_key(key, value, result.conf);
  if (!set) return set.error();
  if (key == "join_timeout") result.join_timeout_said = true;
  if (key == "timeout" && result.join_timeout_said) result.conf.join_timeout = join_timeout;
  if (*set) return {};
  const bool idle = std::ranges::find(kIdle, key) != std::end(kIdle);
  // A slip would leave the default in force; keys of private back ends are in old command lines.
  const std::string_view meant = nearest_of(key, known_keys());
  if (!idle && !meant.empty() && unlikeness(key, meant) <= kSlip)
    return Error{"no rendezvous has the key '" + std::string(key) + "'; did you mean " +
                 std::string(meant) + "?"};
  (idle ? result.idle : result.unknown).emplace_back(key);
  if (key == "store_type") result.in_a_file = value == "file";
  return {};
}

}  // namespace

Result<ReadConf> read_conf(std::string_view text, ReadConf before) {
  ReadConf result = std::move(before);
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
    if (const auto read = read_item(key, value, result); !read) return read.error();
  }
  return result;
}

std::string did_you_mean_conf_key(std::string_view key) {
  return did_you_mean(key, known_keys());
}

}  // namespace ddprun::cli
