#include "rendezvous/rdzvd/options.h"

#include <algorithm>
#include <array>
#include <boost/asio/ip/address.hpp>
#include <boost/program_options/options_description.hpp>
#include <boost/program_options/parsers.hpp>
#include <boost/program_options/variables_map.hpp>
#include <charconv>
#include <optional>
#include <utility>

#include "rendezvous/base/decimal.h"
#include "rendezvous/base/nearest.h"
#include "rendezvous/base/printable.h"
#include "rendezvous/guard/token.h"

namespace ddprun::rdzvd {
namespace {

namespace po = boost::program_options;

constexpr std::array kOptions{
    OptionText{"listen", "HOST:PORT", ":29400",
               "where to listen: an address literal is bound exactly, without HOST all addresses "
               "are; port 0 lets the system choose. The real address is the first line of stdout"},
    OptionText{"http", "on|off", "on", "serve the status page, JSON, metrics and health"},
    OptionText{"store", "on|off", "",
               "serve c10d store clients on the same port: one store for all of them. Default: on, "
               "and off with a token, which such clients cannot show, and with --state, which does "
               "not keep it"},
    OptionText{"state", "etcd://HOST:PORT[,...][/PREFIX]", "",
               "keep the runs in etcd, so that several rdzvd are one: one of them is the head, and "
               "another takes its place when it is lost. Give ddprun all of them, with "
               "--rdzv-endpoint HOST:PORT,HOST:PORT"},
    OptionText{"advertise", "HOST[:PORT]", "",
               "with --state: where agents reach this rdzvd. Default: where it listens, if that is "
               "one address"},
    OptionText{"state-lease", "SECONDS", "5",
               "with --state: how long the others wait for a head that is silent; 2 to 60"},
    OptionText{"token-file", "FILE", "",
               "agents, rdzvctl and pages have to show the token in this file, which nobody else "
               "may read; else that of RDZV_TOKEN. SIGHUP reads the file again"},
    OptionText{
        "tls-cert", "FILE", "",
        "speak TLS 1.3 only, with the certificate in this file, and those between it and its "
        "CA. SIGHUP reads the three files again"},
    OptionText{"tls-key", "FILE", "", "its private key, which only its owner and group may read"},
    OptionText{"tls-ca", "FILE", "",
               "agents, rdzvctl and pages have to show a certificate of this CA"},
    OptionText{"max-per-address", "N", "",
               "close connections of one address (of IPv6: of one network of 64 bits) over this "
               "number; 0: no limit. Default: half of all"},
    OptionText{
        "max-unfinished-per-address", "N", "",
        "close the oldest of the connections of one address that have not said yet what they "
        "speak, over this number; 0: no limit. Default: half of --max-per-address"},
    OptionText{"max-connections", "N", "0",
               "close connections over this number; 0: as many as open files allow"},
    OptionText{"max-memory", "SIZE", "4G",
               "how much may be held for clients, with K, M or G; three quarters of it for the "
               "store"},
    OptionText{"handshake-timeout", "SECONDS", "30",
               "how long a connection may take to say what it wants"},
    OptionText{"log-level", "LEVEL", "info", "debug, info, warning or error"},
    OptionText{"version", "", "", "print the version"},
    OptionText{"help", "", "", "print this text"},
};
constexpr std::array<std::string_view, 4> kLevels{"debug", "info", "warning", "error"};
// Below this agents of one large job already fail.
constexpr std::uint64_t kLeastMemory = 64 << 20;

Result<Endpoint> read_advertised(std::string_view text) {
  auto endpoint = parse_endpoint(text);
  if (!endpoint) return endpoint.error();
  const std::string& host = endpoint->host;
  if (host.empty() || host == "0.0.0.0" || host == "::")
    return Error{"'" + std::string(text) +
                 "' is no address of one host; write one at which the nodes reach this rdzvd"};
  if (text == host || text == "[" + host + "]") endpoint->port = 0;
  return endpoint;
}

std::optional<std::uint64_t> read_whole(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return number;
}

std::optional<std::uint64_t> read_size(std::string_view text) {
  int shift = 0;
  if (!text.empty()) {
    const std::size_t unit = std::string_view("KMG").find(text.back());
    if (unit != std::string_view::npos) {
      shift = 10 * (static_cast<int>(unit) + 1);
      text.remove_suffix(1);
    }
  }
  const auto number = read_whole(text);
  if (!number || *number > (std::uint64_t{1} << 44 >> shift)) return {};
  return *number << shift;
}

Error wrong(const std::string& name, const std::string& value, const std::string& needed) {
  return Error{"--" + name + " is '" + value + "', " + needed + " is needed"};
}

std::optional<Error> set(Options& options, const std::string& name, const std::string& value) {
  if (name == "help" || name == "version") {
    (name == "help" ? options.help : options.version) = true;
  } else if (name == "listen") {
    const auto endpoint = parse_endpoint(value);
    if (!endpoint) return Error{"--listen: " + endpoint.error().text};
    options.listen = *endpoint;
  } else if (name == "http" || name == "store") {
    if (value != "on" && value != "off") return wrong(name, value, "on or off");
    if (name == "http")
      options.http = value == "on";
    else
      options.store = value == "on";
  } else if (name == "state") {
    const auto place = etcd::parse_place(value);
    if (!place) return Error{"--state: " + place.error().text};
    options.state = *place;
  } else if (name == "advertise") {
    const auto endpoint = read_advertised(value);
    if (!endpoint) return Error{"--advertise: " + endpoint.error().text};
    options.advertise = *endpoint;
  } else if (name == "state-lease") {
    const auto seconds = read_whole(value);
    if (!seconds || *seconds < 2 || *seconds > 60)
      return wrong(name, value, "a whole number of seconds from 2 to 60");
    options.lease = std::chrono::seconds(*seconds);
  } else if (name == "token-file") {
    options.token_file = value;
  } else if (name == "tls-cert") {
    options.tls.cert = value;
  } else if (name == "tls-key") {
    options.tls.key = value;
  } else if (name == "tls-ca") {
    options.tls.ca = value;
  } else if (name.starts_with("max-") && name != "max-memory") {
    const auto number = read_whole(value);
    if (!number) return wrong(name, value, "a whole number");
    if (name == "max-connections")
      options.max_connections = *number;
    else if (name == "max-per-address")
      options.max_per_address = *number;
    else
      options.max_unfinished_per_address = *number;
  } else if (name == "max-memory") {
    const auto size = read_size(value);
    if (!size || *size < kLeastMemory) return wrong(name, value, "at least 64M");
    options.max_memory_bytes = *size;
  } else if (name == "handshake-timeout") {
    const auto seconds = read_decimal(value);
    if (!seconds || *seconds < 0.001 || *seconds > 86'400)
      return wrong(name, value, "a number of seconds above 0 and up to a day");
    options.handshake_timeout = std::chrono::milliseconds(static_cast<int>(*seconds * 1000));
  } else {
    if (std::ranges::find(kLevels, value) == kLevels.end())
      return wrong(name, value, "debug, info, warning or error");
    options.log_level = value;
  }
  return {};
}

// What other programs call it.
constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kElsewhere{{
    {"port", "listen"},
    {"bind", "listen"},
    {"host", "listen"},
    {"address", "listen"},
    {"addr", "listen"},
    {"endpoint", "listen"},
    {"rdzv-endpoint", "listen"},
    {"memory", "max-memory"},
    {"verbose", "log-level"},
}};

// `name` without dashes.
Error unknown(std::string_view name) {
  if (guard::is_token_option(name))
    return Error{std::string("--token: ") + guard::kTokenOnCommandLine};
  const std::string text = "there is no option --" + std::string(name);
  const auto* elsewhere =
      std::ranges::find(kElsewhere, name, &std::pair<std::string_view, std::string_view>::first);
  std::vector<std::string_view> names;
  for (const OptionText& option : kOptions) names.push_back(option.name);
  const std::string_view meant =
      elsewhere != kElsewhere.end() ? elsewhere->second : nearest_of(name, names);
  if (meant.empty()) return Error{text + "; see rdzvd --help"};
  return Error{text + "; did you mean --" + std::string(meant) + "? See rdzvd --help"};
}

po::options_description description() {
  po::options_description all;
  for (const OptionText& option : kOptions) {
    const std::string name(option.name);
    if (option.metavar.empty())
      all.add_options()(name.c_str(), "");
    else
      all.add_options()(name.c_str(), po::value<std::string>(), "");
  }
  return all;
}

Result<Options> read_words(const std::vector<std::string>& words) {
  using namespace po::command_line_style;
  Options options;
  try {
    const auto known = description();
    // Without guessing: an option that comes later must not change what a prefix means.
    const auto parsed = po::command_line_parser(words)
                            .options(known)
                            .style(allow_long | long_allow_adjacent | long_allow_next)
                            .run();
    for (const auto& each : parsed.options) {
      if (each.string_key.empty())
        return Error{"'" + each.value.front() + "' belongs to no option; see rdzvd --help"};
      if (auto error = set(options, each.string_key, each.value.empty() ? "" : each.value.front()))
        return *error;
    }
  } catch (const po::unknown_option& option) {
    const std::string name = option.get_option_name();
    return unknown(name.substr(std::min(name.find_first_not_of('-'), name.size())));
  } catch (const po::error& error) {
    return Error{std::string(error.what()) + "; see rdzvd --help"};
  }
  return options;
}

// What is right by itself and wrong together.
std::optional<Error> find_misfit(const Options& options) {
  if (options.help || options.version) return {};
  if (!options.state && options.lease)
    return Error{
        "--state-lease is for several rdzvd with one --state; leave it out, or give --state"};
  if (!options.state && options.advertise)
    return Error{
        "--advertise is for several rdzvd with one --state; leave it out, or give --state"};
  if (options.state && options.store.value_or(false))
    return Error{
        "--store on: with --state another rdzvd may become the head, which would not have what is "
        "in the store; leave it out"};
  return {};
}

}  // namespace

std::span<const OptionText> option_texts() {
  return kOptions;
}

Result<Options> parse_options(const std::vector<std::string>& words) {
  auto options = read_words(words);
  if (options)
    if (auto misfit = find_misfit(*options)) options = *misfit;
  // A word may hold anything, and the message goes to a terminal.
  if (!options) return Error{printable(options.error().text)};
  return options;
}

std::string warning_of_advertised(const Endpoint& advertised) {
  boost::system::error_code none;
  const auto address = boost::asio::ip::make_address(advertised.host, none);
  if (advertised.host != "localhost" && (none || !address.is_loopback())) return "";
  return "nodes on other hosts that are sent to " + to_text(advertised) +
         " look for this rdzvd on themselves; give --advertise HOST with a name or an address at "
         "which all nodes reach it, and --listen with one that they can reach";
}

std::string help_text() {
  std::string text =
      "usage: rdzvd [options]\n\n"
      "The rendezvous daemon: where the nodes of jobs started by ddprun meet. One port\n"
      "serves the agents of many runs, a status page and a store.\n\n";
  for (const OptionText& option : kOptions) {
    text += "  --" + std::string(option.name);
    if (!option.metavar.empty()) text += " " + std::string(option.metavar);
    text += "\n      " + std::string(option.help);
    if (!option.fallback.empty()) text += " (" + std::string(option.fallback) + ")";
    text += "\n";
  }
  return text + "\nSIGTERM tells all agents and ends with 0. More: man rdzvd\n";
}

}  // namespace ddprun::rdzvd
