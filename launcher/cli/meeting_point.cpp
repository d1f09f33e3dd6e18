#include "launcher/cli/meeting_point.h"

namespace ddprun::cli {
namespace {

using Host = Sourced<std::string>;
using Port = Sourced<std::uint16_t>;

struct Question {
  const RendezvousGiven& given;
  bool by_arrival;
  const cluster::Allocation& allocation;
  const Environment& environment;
};

Error no_host(const Question& q) {
  const std::string option = q.given.engine->written;
  if (q.given.engine->value == cluster::Engine::mpi)
    return Error{option +
                 ": an MPI launcher does not say where the nodes can meet; give --rdzv-endpoint "
                 "HOST:PORT, or MASTER_ADDR in the environment"};
  return Error{option +
               ": it is not known where the nodes can meet; give --master-addr, the first pod and "
               "its headless service (train-0.train)"};
}

// Reads a variable that the user may have set for programs of all kinds.
Result<std::optional<Host>> host_of_environment(const Question& q) {
  const auto text = variable_value(q.environment, "MASTER_ADDR");
  if (!text) return std::optional<Host>();
  const Result<std::string> host = read_host(*text);
  if (!host) return Error{"MASTER_ADDR: " + host.error().text};
  return std::optional(Host{*host, "MASTER_ADDR"});
}

Result<std::optional<Port>> port_of_environment(const Question& q) {
  const auto text = variable_value(q.environment, "MASTER_PORT");
  if (!text) return std::optional<Port>();
  const Result<std::uint16_t> port = read_port(*text);
  if (!port) return Error{"MASTER_PORT: " + port.error().text};
  return std::optional(Port{*port, "MASTER_PORT"});
}

Result<Host> find_host(const Question& q) {
  if (q.given.master_addr) return Host{q.given.master_addr->value, q.given.master_addr->label};
  if (q.allocation.host && !q.allocation.host_is_guess) return *q.allocation.host;
  const auto set = host_of_environment(q);
  if (!set) return set.error();
  if (*set) return **set;
  if (q.allocation.host) return *q.allocation.host;
  if (q.given.engine && q.given.engine->value != cluster::Engine::none) return no_host(q);
  return Host{"127.0.0.1", ""};
}

// The environment's port belongs to the environment's address, not to another one.
Result<Port> find_port(const Question& q) {
  // With --hosts 0 is the default: node 0 chooses, and the others are told.
  const bool chosen = q.allocation.port && q.given.master_port && q.given.master_port->value == 0;
  if (q.given.master_port && !chosen)
    return Port{q.given.master_port->value, q.given.master_port->label};
  if (q.allocation.port) return *q.allocation.port;
  if (!q.given.master_addr) {
    const auto set = port_of_environment(q);
    if (!set) return set.error();
    if (*set) return **set;
  }
  return Port{q.by_arrival ? kArrivalPort : kFixedPort, ""};
}

std::string both_sources(const std::string& host, const std::string& port) {
  if (host == port || port.empty()) return host + (host.empty() ? "" : ", with the default port");
  return host.empty() ? port : host + " and " + port;
}

Result<Sourced<MeetingPoint>> given_endpoint(const Question& q) {
  const Said<Endpoint>& endpoint = *q.given.endpoint;
  if (!endpoint.value.port && !q.by_arrival)
    return Error{endpoint.label + ": '" + endpoint.value.host + "' has no port; write " +
                 in_brackets(endpoint.value.host) + ":PORT"};
  return Sourced<MeetingPoint>{{endpoint.value.host, endpoint.value.port.value_or(kArrivalPort)},
                               endpoint.label};
}

// The others of several rdzvds. Each is told whole, for nobody chooses a port here.
Result<std::vector<MeetingPoint>> more_endpoints(const Question& q) {
  std::vector<MeetingPoint> more;
  for (const Endpoint& each : q.given.more_endpoints) {
    if (each.port.value_or(kArrivalPort) == 0)
      return Error{q.given.endpoint->label + ": port 0 is no place to meet; write " +
                   text_of(MeetingPoint{each.host, kArrivalPort})};
    if (!each.port && !q.by_arrival)
      return Error{q.given.endpoint->label + ": '" + each.host + "' has no port; write " +
                   in_brackets(each.host) + ":PORT"};
    more.push_back({each.host, each.port.value_or(kArrivalPort)});
  }
  return more;
}

// What was set in the environment and counts less than the engine.
void add_overruled(const Question& q, const MeetingPoint& point,
                   std::vector<std::string>& notices) {
  if (!q.allocation.host || q.allocation.host_is_guess || q.given.endpoint || q.given.master_addr)
    return;
  const auto overruled = [&](std::string_view name, const std::string& used,
                             const std::string& option) {
    const auto text = variable_value(q.environment, name);
    if (text && *text != used)
      notices.push_back(std::string(name) + "=" + *text + " of the environment is not used, but " +
                        used + " of " + std::string(q.given.engine->written) + "; write " + option +
                        " " + *text + " if it is meant");
  };
  overruled("MASTER_ADDR", point.host, "--master-addr");
  if (!q.given.master_port) overruled("MASTER_PORT", std::to_string(point.port), "--master-port");
}

void add_loopback(const Question& q, const Sourced<MeetingPoint>& point, bool host_given,
                  std::vector<std::string>& notices) {
  if (!is_loopback(point.value.host)) return;
  const std::string where = text_of(point.value);
  if (host_given)
    notices.push_back(point.source + ": other hosts cannot reach " + where +
                      ", so all nodes have to be on this one");
  else
    notices.push_back("no address was given, so the nodes meet at " + where +
                      ", which other hosts cannot reach; write " +
                      (q.by_arrival ? "--rdzv-endpoint" : "--master-addr") +
                      " HOST if there are others");
}

}  // namespace

Result<FoundMeetingPoint> find_meeting_point(const RendezvousGiven& given, bool by_arrival,
                                             const cluster::Allocation& allocation,
                                             const Environment& environment) {
  const Question q{given, by_arrival, allocation, environment};
  FoundMeetingPoint found;
  bool host_given = true;
  if (given.endpoint) {
    const auto point = given_endpoint(q);
    if (!point) return point.error();
    found.point = *point;
    auto more = more_endpoints(q);
    if (!more) return more.error();
    found.more = std::move(*more);
  } else {
    const Result<Host> host = find_host(q);
    if (!host) return host.error();
    const Result<Port> port = find_port(q);
    if (!port) return port.error();
    host_given = !host->source.empty();
    found.point = {{host->value, port->value}, both_sources(host->source, port->source)};
    if (host->source == "MASTER_ADDR")
      found.from_environment.push_back("MASTER_ADDR=" + host->value);
    if (port->source == "MASTER_PORT")
      found.from_environment.push_back("MASTER_PORT=" + std::to_string(port->value));
  }
  const std::uint16_t usual = by_arrival ? kArrivalPort : kFixedPort;
  const bool by_hosts = given.engine && given.engine->value == cluster::Engine::hosts;
  // Node 0 tells its choice to whoever has started all.
  const bool tells_port = by_hosts && allocation.port && allocation.node_rank->value == 0 &&
                          !given.endpoint && !given.master_addr;
  if (found.point.value.port == 0 && !tells_port)
    return Error{found.point.source +
                 ": port 0 lets the system choose, and the other nodes could not know its choice; "
                 "write " +
                 (given.endpoint ? text_of(MeetingPoint{found.point.value.host, usual})
                                 : "a port, such as " + std::to_string(usual))};
  add_overruled(q, found.point.value, found.notices);
  if (!by_hosts) add_loopback(q, found.point, host_given, found.notices);
  return found;
}

bool is_loopback(const std::string& host) {
  return host == "localhost" || host == "::1" || host.starts_with("127.");
}

std::optional<std::string> variable_value(const Environment& environment, std::string_view name) {
  const auto value = environment.get(name);
  if (!value || value->empty()) return std::nullopt;
  return std::string(*value);
}

}  // namespace ddprun::cli
