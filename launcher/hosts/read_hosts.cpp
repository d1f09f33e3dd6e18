#include "launcher/hosts/read_hosts.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "launcher/cluster/host_list.h"
#include "rendezvous/base/nearest.h"

namespace ddprun::hosts {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";  // of editors on Windows
constexpr std::string_view kBlanks = " \t\r";
constexpr std::string_view kForm = "HOST[:SLOTS[:PORT]]";

std::string quoted(std::string_view text) {
  return "'" + std::string(text) + "'";
}

std::optional<int> number_in(std::string_view text, int lowest, int highest) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value < lowest || value > highest ? std::nullopt : std::optional(value);
}

// What stands for itself in a command for a remote shell and in an address.
bool is_name(std::string_view text) {
  return !text.empty() && text.front() != '-' && std::ranges::all_of(text, [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '.' || c == '-' || c == '_' || c == ':' || c == '%';
  });
}

Result<int> read_slots(std::string_view text) {
  if (const auto slots = number_in(text, 1, kMostSlots)) return *slots;
  if (text == "0") return Error{"a host with 0 slots has nothing to do; leave it out"};
  return Error{quoted(text) + " is not a number of workers from 1 to " +
               std::to_string(kMostSlots)};
}

Result<std::uint16_t> read_port(std::string_view text) {
  if (const auto port = number_in(text, 1, 65'535)) return static_cast<std::uint16_t>(*port);
  return Error{quoted(text) + " is not a port from 1 to 65535"};
}

// ":8:2222" behind the name.
Result<void> take_numbers(std::string_view text, Host& host) {
  if (text.empty()) return {};
  text.remove_prefix(1);
  const std::size_t colon = text.find(':');
  const std::string_view slots = text.substr(0, colon);
  const bool has_port = colon != std::string_view::npos;
  if (slots.empty() && !has_port) return Error{"a number of workers is missing behind the `:`"};
  if (!slots.empty()) {
    const auto read = read_slots(slots);
    if (!read) return read.error();
    host.slots = *read;
  }
  if (!has_port) return {};
  const auto port = read_port(text.substr(colon + 1));
  if (!port) return port.error();
  host.port = *port;
  return {};
}

// An IPv6 address has its colons in brackets: "[fd00::1]:8".
struct Split {
  std::string_view name;
  std::string_view numbers;
};
Result<Split> split_name(std::string_view text) {
  if (text.starts_with('[')) {
    const std::size_t close = text.find(']');
    if (close == std::string_view::npos) return Error{"the `[` is not closed"};
    const std::string_view inside = text.substr(1, close - 1);
    if (inside.find(':') != std::string_view::npos) {
      const std::string_view rest = text.substr(close + 1);
      if (!rest.empty() && rest.front() != ':') return Error{"a `:` has to follow the `]`"};
      return Split{inside, rest};
    }
  }
  const std::size_t colons = static_cast<std::size_t>(std::ranges::count(text, ':'));
  if (colons > 2 || text.starts_with("::"))
    return Error{"an IPv6 address is written in brackets: [" + std::string(text) + "]"};
  const std::size_t colon = std::min(text.find(':'), text.size());
  return Split{text.substr(0, colon), text.substr(colon)};
}

Result<std::vector<std::string>> names_of(std::string_view name) {
  if (name.find(':') == std::string_view::npos) return cluster::read_host_list(name);
  return std::vector<std::string>{std::string(name)};
}

// All hosts that one part stands for: "joe@gpu[1-4]:8".
Result<std::vector<Host>> read_part(std::string_view part) {
  const auto wrong = [&](const std::string& why) {
    return Error{quoted(part) + " is not a host: " + why};
  };
  if (part.find("://") != std::string_view::npos)
    return wrong("it is a URL; write " + std::string(kForm));
  Host host;
  std::string_view rest = part;
  if (const std::size_t at = part.find('@'); at != std::string_view::npos) {
    host.user = part.substr(0, at);
    rest = part.substr(at + 1);
    if (!is_name(host.user)) return wrong("the user before the `@` is missing");
  }
  const auto split = split_name(rest);
  if (!split) return wrong(split.error().text);
  if (const auto taken = take_numbers(split->numbers, host); !taken)
    return wrong(taken.error().text + "; write " + std::string(kForm));
  const auto names = names_of(split->name);
  if (!names) return wrong(names.error().text);
  std::vector<Host> all;
  for (const std::string& name : *names) {
    if (!is_name(name)) return wrong("a name has letters, digits, `.`, `-` and `_`");
    host.name = name;
    all.push_back(host);
  }
  return all;
}

Result<void> append(std::string_view part, std::vector<Host>& all) {
  const auto some = read_part(part);
  if (!some) return some.error();
  if (all.size() + some->size() > kMostHosts)
    return Error{quoted(part) + ": these are more than " + std::to_string(kMostHosts) + " hosts"};
  all.insert(all.end(), some->begin(), some->end());
  return {};
}

// Where the first part of a list ends: at a comma outside of brackets.
std::size_t end_of_part(std::string_view text) {
  bool inside = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '[' || text[at] == ']') inside = text[at] == '[';
    if (text[at] == ',' && !inside) return at;
  }
  return text.size();
}

// ---- a hostfile ----

std::vector<std::string_view> words_of(std::string_view line) {
  line = line.substr(0, line.find('#'));
  std::vector<std::string_view> words;
  while (true) {
    const std::size_t begin = line.find_first_not_of(kBlanks);
    if (begin == std::string_view::npos) return words;
    const std::size_t end = std::min(line.find_first_of(kBlanks, begin), line.size());
    words.push_back(line.substr(begin, end - begin));
    line.remove_prefix(end);
  }
}

Result<void> take_key(std::string_view word, std::vector<Host>& hosts, std::optional<int>& most) {
  static constexpr std::array<std::string_view, 5> kKeys{"slots", "max_slots", "max-slots", "port",
                                                         "user"};
  const std::size_t equals = word.find('=');
  if (equals == std::string_view::npos && std::ranges::find(kKeys, word) != kKeys.end())
    return Error{quoted(word) + ": write " + std::string(word) + "=N without blanks"};
  if (equals == std::string_view::npos)
    return Error{quoted(word) + ": one host a line, and behind it slots=N"};
  const std::string_view key = word.substr(0, equals);
  const std::string_view value = word.substr(equals + 1);
  if (std::ranges::find(kKeys, key) == kKeys.end())
    return Error{quoted(word) + " is not known here" + did_you_mean(key, kKeys)};
  if (key == "port") {
    const auto port = read_port(value);
    if (!port) return Error{"port=: " + port.error().text};
    for (Host& host : hosts) host.port = *port;
  } else if (key == "user") {
    if (!is_name(value)) return Error{"user=: " + quoted(value) + " is not a user"};
    for (Host& host : hosts) host.user = value;
  } else {
    const auto slots = read_slots(value);
    if (!slots) return Error{std::string(key) + "=: " + slots.error().text};
    if (key != "slots") {
      most = *slots;
    } else {
      for (Host& host : hosts) host.slots = *slots;
    }
  }
  return {};
}

Result<std::vector<Host>> read_line(const std::vector<std::string_view>& words) {
  const std::string_view name = words.front();
  if (name.starts_with('^') || name.starts_with('+'))
    return Error{quoted(name) +
                 ": leaving hosts out and numbers in their place are Open MPI's "
                 "alone; name the hosts that are meant"};
  if (const std::size_t comma = end_of_part(name); comma != name.size())
    return Error{quoted(name) + ": one host a line"};
  std::vector<Host> hosts;
  if (const auto read = append(name, hosts); !read) return read.error();
  std::optional<int> most;
  const std::optional<int> behind_name = hosts.front().slots;
  for (std::size_t i = 1; i < words.size(); ++i)
    if (const auto taken = take_key(words[i], hosts, most); !taken) return taken.error();
  if (behind_name && hosts.front().slots != behind_name)
    return Error{quoted(name) + " and slots=" + std::to_string(*hosts.front().slots) +
                 " contradict each other"};
  if (const auto& slots = hosts.front().slots; most && slots && *most < *slots)
    return Error{"slots=" + std::to_string(*slots) + " and max_slots=" + std::to_string(*most) +
                 " contradict each other"};
  return hosts;
}

bool same_place(const Host& one, const Host& other) {
  return one.name == other.name && one.port == other.port;
}

}  // namespace

Result<std::vector<Host>> read_list(std::string_view list) {
  std::vector<Host> all;
  for (std::string_view rest = list;;) {
    const std::size_t end = end_of_part(rest);
    std::string_view part = rest.substr(0, end);
    while (part.starts_with(' ')) part.remove_prefix(1);
    while (part.ends_with(' ')) part.remove_suffix(1);
    if (part.empty()) return Error{quoted(list) + " is not a list of hosts: a name is empty"};
    if (const auto read = append(part, all); !read) return read.error();
    if (end == rest.size()) return all;
    rest.remove_prefix(end + 1);
  }
}

Result<std::vector<Host>> read_hostfile(std::string_view text) {
  std::vector<Host> all;
  int number = 0;
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const auto words = words_of(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    if (words.empty()) continue;
    const auto hosts = read_line(words);
    if (!hosts) return Error{"line " + std::to_string(number) + ": " + hosts.error().text};
    if (all.size() + hosts->size() > kMostHosts)
      return Error{"line " + std::to_string(number) + ": these are more than " +
                   std::to_string(kMostHosts) + " hosts"};
    all.insert(all.end(), hosts->begin(), hosts->end());
  }
  if (all.empty()) return Error{"it names no host; write one a line, such as gpu01 slots=8"};
  return all;
}

Result<std::vector<Host>> each_once(std::vector<Host> named) {
  std::vector<Host> all;
  std::vector<int> times;
  for (Host& host : named) {
    const auto found =
        std::ranges::find_if(all, [&](const Host& one) { return same_place(one, host); });
    if (found == all.end()) {
      all.push_back(std::move(host));
      times.push_back(1);
      continue;
    }
    if (found->user != host.user)
      return Error{text_of(*found) + " and " + text_of(host) + ": one host, two users"};
    if (found->slots.has_value() != host.slots.has_value())
      return Error{text_of(*found) + " and " + text_of(host) +
                   ": write the slots each time, or name the host once"};
    if (host.slots) *found->slots += *host.slots;
    ++times[static_cast<std::size_t>(found - all.begin())];
  }
  const bool by_times = std::ranges::any_of(times, [](int count) { return count > 1; });
  for (std::size_t i = 0; by_times && i < all.size(); ++i)
    if (!all[i].slots) all[i].slots = times[i];
  return all;
}

std::string text_of(const Host& host) {
  const bool address = host.name.find(':') != std::string::npos;
  std::string text = host.user.empty() ? "" : host.user + "@";
  text += address ? "[" + host.name + "]" : host.name;
  if (host.slots || host.port) text += ":";
  if (host.slots) text += std::to_string(*host.slots);
  if (host.port) text += ":" + std::to_string(*host.port);
  return text;
}

}  // namespace ddprun::hosts
