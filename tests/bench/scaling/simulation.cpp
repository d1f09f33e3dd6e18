#include "tests/bench/scaling/simulation.h"

#include <algorithm>
#include <functional>
#include <sstream>
#include <stdexcept>
#include <vector>

#include "rendezvous/base/read_file.h"
#include "tests/bench/announcer.h"
#include "tests/bench/observed_process.h"

namespace ddprun::bench::scaling {
namespace {

constexpr int kFew = 1'000, kMore = 4'000;  // ranks
constexpr int kFewAgents = 500, kMoreAgents = 2'000;
constexpr int kPatienceSeconds = 120;

double loopback_bytes() {
  std::istringstream lines(read_file("/proc/net/dev").value_or(""));
  for (std::string line; std::getline(lines, line);) {
    const std::size_t at = line.find("lo:");
    if (at != std::string::npos) return std::stod(line.substr(at + 3));
  }
  throw std::runtime_error("/proc/net/dev shows no loopback interface");
}

// A new server and `clients`, which say how many milliseconds they took.
Measured once(const Programs& programs,
              const std::function<Words(const std::string& port)>& clients, int count) {
  const Announcer server({programs.rdzvd, "--listen", "127.0.0.1:0", "--max-per-address", "0"});
  const double memory = pss_megabytes(server.pid()), cpu = cpu_milliseconds(server.pid()),
               wire = loopback_bytes();
  const Announcer crowd(clients(std::to_string(static_cast<int>(server.number()))),
                        kPatienceSeconds);
  return {.wall = crowd.number(),
          .cpu = cpu_milliseconds(server.pid()) - cpu,
          .memory = (pss_megabytes(server.pid()) - memory) * (1 << 20) / count,
          .wire = (loopback_bytes() - wire) / count};
}

Measured median(std::vector<Measured> all) {
  Measured middle;
  for (double Measured::*member :
       {&Measured::wall, &Measured::cpu, &Measured::memory, &Measured::wire}) {
    std::ranges::nth_element(all, all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2), {},
                             member);
    middle.*member = all[all.size() / 2].*member;
  }
  return middle;
}

Measured several(int rounds, const std::function<Measured()>& measure_once) {
  std::vector<Measured> all;
  for (int i = 0; i < rounds; ++i) all.push_back(measure_once());
  return median(std::move(all));
}

// Microseconds of the server's CPU for one ADD among 1,000 clients.
double operation(const Programs& programs) {
  const Announcer server({programs.rdzvd, "--listen", "127.0.0.1:0", "--max-per-address", "0"});
  const Announcer load({programs.store_load, std::to_string(static_cast<int>(server.number())),
                        std::to_string(server.pid()), "1000", "add", "20000", "c10d"});
  std::istringstream figures(load.line());
  double took = 0, cpu = 0;
  if (!(figures >> took >> cpu)) throw std::runtime_error("store_load: " + load.line());
  return cpu;
}

double each(double milliseconds, int count) {
  return milliseconds * 1e3 / count;
}

}  // namespace

Measured storm(const Programs& programs, int ranks, int rounds, int at_once) {
  return several(rounds, [&] {
    return once(
        programs,
        [&](const std::string& port) {
          return Words{programs.store_clients, port, std::to_string(ranks), "127.0.0.1",
                       std::to_string(at_once)};
        },
        ranks);
  });
}

Measured join(const Programs& programs, int agents, int rounds) {
  return several(rounds, [&] {
    return once(
        programs,
        [&](const std::string& port) {
          return Words{programs.agents, port, std::to_string(agents)};
        },
        agents);
  });
}

Measured failure(const Programs& programs, int agents, int rounds) {
  return several(rounds, [&] {
    return once(
        programs,
        [&](const std::string& port) {
          return Words{programs.agents, port, std::to_string(agents), "fail"};
        },
        agents);
  });
}

Costs measure(const Programs& programs, int rounds) {
  const Measured few = storm(programs, kFew, rounds), more = storm(programs, kMore, rounds);
  const Measured few_agents = join(programs, kFewAgents, rounds),
                 more_agents = join(programs, kMoreAgents, rounds);
  Costs costs{
      .rank_cpu = Growing::through(kFew, each(few.cpu, kFew), kMore, each(more.cpu, kMore)),
      .rank_wall = Growing::through(kFew, each(few.wall, kFew), kMore, each(more.wall, kMore)),
      .rank_memory = more.memory,
      .rank_wire = more.wire,
      .operation_cpu = operation(programs),
      .failure = Growing::through(
          kFewAgents, each(failure(programs, kFewAgents, rounds).wall, kFewAgents), kMoreAgents,
          each(failure(programs, kMoreAgents, rounds).wall, kMoreAgents))};
  const double span = kMoreAgents - kFewAgents;
  costs.entry_cpu = (each(more_agents.cpu, kMoreAgents) - each(few_agents.cpu, kFewAgents)) / span;
  costs.agent_cpu = each(few_agents.cpu, kFewAgents) - kFewAgents * costs.entry_cpu;
  costs.entry_wire = (more_agents.wire - few_agents.wire) / span;
  costs.agent_wire = few_agents.wire - kFewAgents * costs.entry_wire;
  return costs;
}

}  // namespace ddprun::bench::scaling
