#include "launcher/cli/values.h"

#include <charconv>
#include <cstdint>

#include "launcher/cli/options.h"
#include "rendezvous/base/decimal.h"
#include "rendezvous/base/endpoint.h"
#include "rendezvous/base/nearest.h"

namespace ddprun::cli {
namespace {

std::string quoted(std::string_view text) {
  return "'" + std::string(text) + "'";
}

template <class T>
std::optional<T> number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool all_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// "'29500 '" looks right at first sight, so the blank is named.
std::string blank_hint(std::string_view text) {
  return text.find_first_of(" \t\r\n") == std::string_view::npos ? "" : " (there is a blank in it)";
}

std::string range_text(int lowest, int highest) {
  return std::to_string(lowest) + " to " + std::to_string(highest);
}

}  // namespace

std::string not_a_choice(std::string_view text, std::span<const std::string_view> words) {
  std::string list;
  for (std::size_t i = 0; i < words.size(); ++i)
    list += (i == 0 ? "" : i + 1 < words.size() ? ", " : " and ") + std::string(words[i]);
  return quoted(text) + " is not one of " + list + did_you_mean(text, words);
}

Result<int> read_integer(std::string_view text, int lowest, int highest) {
  const auto value = number<long long>(text);
  if (!value) {
    const bool too_long = all_digits(text.substr(text.starts_with('-') ? 1 : 0));
    if (!too_long) {
      return Error{quoted(text) + " is not a number" + blank_hint(text) + "; write " +
                   range_text(lowest, highest)};
    }
  }
  if (!value || *value < lowest || *value > highest)
    return Error{quoted(text) + " is out of range; write " + range_text(lowest, highest)};
  return static_cast<int>(*value);
}

Result<WorkerCount> read_worker_count(std::string_view text) {
  using Kind = WorkerCount::Kind;
  if (text == "auto") return WorkerCount{Kind::automatic, 0};
  if (text == "gpu") return WorkerCount{Kind::gpu, 0};
  if (text == "cpu") return WorkerCount{Kind::cpu, 0};
  if (text == "xpu")
    return Error{"'xpu' devices are not discovered by ddprun; write the number of workers"};
  if (const auto count = number<long long>(text)) {
    if (*count >= 1 && *count <= kMostWorkers)
      return WorkerCount{Kind::number, static_cast<int>(*count)};
    return Error{quoted(text) + " is not a possible number of workers; write " +
                 range_text(1, kMostWorkers) + ", auto, gpu or cpu"};
  }
  std::string error = quoted(text) + " is not a number of workers" + blank_hint(text);
  const auto colon = text.find(':');
  if (colon != std::string_view::npos && all_digits(text.substr(colon + 1)))
    return Error{error + "; write " + std::string(text.substr(colon + 1)) +
                 ", or gpu for one worker on each visible GPU"};
  return Error{error + "; write a number from 1, auto, gpu or cpu"};
}

Result<std::uint16_t> read_port(std::string_view text) {
  const auto port = number<long long>(text);
  if (port && *port >= 0 && *port <= 65'535) return static_cast<std::uint16_t>(*port);
  return Error{quoted(text) + " is not a port" + blank_hint(text) +
               "; write 1 to 65535, or on one node 0 to have one chosen"};
}

Result<std::chrono::milliseconds> read_seconds(std::string_view text, int longest) {
  const auto seconds = read_decimal(text);
  if (!seconds || *seconds < 0 || *seconds > longest)
    return Error{quoted(text) + " is not a time in seconds" + blank_hint(text) + "; write " +
                 range_text(0, longest) + ", fractions are allowed"};
  return std::chrono::milliseconds(static_cast<std::int64_t>(*seconds * 1000 + 0.5));
}

Result<bool> read_boolean(std::string_view text) {
  if (text == "1" || text == "true") return true;
  if (text == "0" || text == "false") return false;
  return Error{quoted(text) + " is not one of 0, 1, true and false"};
}

Result<Endpoint> read_endpoint(std::string_view text) {
  const Error wrong{quoted(text) + " is not an address; write HOST, HOST:PORT or [IPV6]:PORT"};
  if (std::string slip = endpoint_slip(text); !slip.empty()) return Error{std::move(slip)};
  if (is_ipv6(text)) return Endpoint{std::string(text), std::nullopt};
  std::string_view host = text;
  std::string_view rest;
  if (text.starts_with('[')) {
    const auto close = text.find(']');
    if (close == std::string_view::npos) return wrong;
    host = text.substr(1, close - 1);
    rest = text.substr(close + 1);
    if (host.find(':') != std::string_view::npos && !is_ipv6(host)) return wrong;
  } else if (const auto colon = text.find(':'); colon != std::string_view::npos) {
    host = text.substr(0, colon);
    rest = text.substr(colon);
  }
  if (host.empty() || host.find_first_of(" \t/") != std::string_view::npos) return wrong;
  Endpoint endpoint{std::string(host), std::nullopt};
  if (rest.empty()) return endpoint;
  if (!rest.starts_with(':')) return wrong;
  const Result<std::uint16_t> port = read_port(rest.substr(1));
  if (!port)
    return Error{quoted(text) + ": " + quoted(rest.substr(1)) + " is not a port; write " +
                 std::string(text.substr(0, text.size() - rest.size())) + ":PORT, from 1 to 65535"};
  endpoint.port = *port;
  return endpoint;
}

Result<std::vector<Endpoint>> read_endpoints(std::string_view text) {
  std::vector<Endpoint> all;
  while (true) {
    const std::size_t comma = text.find(',');
    const Result<Endpoint> endpoint = read_endpoint(text.substr(0, comma));
    if (!endpoint) return endpoint.error();
    all.push_back(*endpoint);
    if (comma == std::string_view::npos) return all;
    text.remove_prefix(comma + 1);
  }
}

Result<std::string> read_host(std::string_view text) {
  if (text.find_first_of(" \t\r\n") != std::string_view::npos)
    return Error{quoted(text) + " is not a host: there is a blank in it"};
  const Result<Endpoint> endpoint = read_endpoint(text);
  if (!endpoint) return Error{quoted(text) + " is not a host; write a name or an address"};
  if (endpoint->port) return Error{quoted(text) + " has a port in it; write the host alone"};
  return Result<std::string>(boost::system::in_place_value, endpoint->host);
}

Result<NodeRange> read_nodes(std::string_view text) {
  const auto colon = text.find(':');
  const auto min = number<int>(text.substr(0, colon));
  const auto max = colon == std::string_view::npos ? min : number<int>(text.substr(colon + 1));
  if (!min || !max || *min < 1 || *max < *min || *max > cluster::kMostNodes)
    return Error{quoted(text) +
                 " is not a number of nodes; write N, or MIN:MAX with 1 <= MIN <= MAX"};
  return NodeRange{*min, *max};
}

std::optional<std::string> find_slip(std::string_view value) {
  if (value.empty()) return "the value is empty";
  const auto dollar = value.find('$');
  if (dollar != std::string_view::npos && dollar + 1 < value.size()) {
    const char next = value[dollar + 1];
    if (next == '(') {
      return quoted(value) +
             " was not replaced by a value: $(NAME) is for container specifications, a shell "
             "writes $NAME";
    }
    if (next == '{' || next == '_' || std::isalpha(static_cast<unsigned char>(next)))
      return quoted(value) + " was not replaced by a value: is it in single quotes?";
  }
  if (const auto glued = find_glued_option(value)) {
    return quoted(value) + " is more than one word glued together: put a blank before '" +
           std::string(*glued) + "'";
  }
  return std::nullopt;
}

}  // namespace ddprun::cli
