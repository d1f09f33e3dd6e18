#include "tests/bench/report/charts.h"

#include <optional>

namespace ddprun::bench {
namespace {

enum class Shown { median, ratio, per_second };

// The row of a bar. In `row` @ stands for the word of the group of bars, such as a number of
// workers, and * for anything, a version for example, which then takes the place of * in `label`.
struct Series {
  std::string label, row;
  Role role;
};

struct Plan {
  std::string name, group, title, what;
  Chart::Scale scale;
  Shown shown;
  std::vector<std::pair<std::string, std::string>> groups;  // word and title
  std::vector<Series> series;
  std::optional<double> mark = {};
};

constexpr auto kLinear = Chart::Scale::linear, kLogarithmic = Chart::Scale::logarithmic;

Plan launch() {
  return {"bench-launch",
          "launch",
          "Start and end of workers on one machine",
          "Milliseconds from before the start of the launcher until its end; logarithmic",
          kLogarithmic,
          Shown::median,
          {{"2", "2 times /bin/true"},
           {"8", "8 times /bin/true"},
           {"64", "64 times /bin/true"},
           {"512", "512 times /bin/true"}},
          {{"posix_spawn and waitpid", "spawn_floor @ /bin/true", Role::floor},
           {"its duties alone", "spawn_duties @ /bin/true", Role::floor},
           {"ddprun", "ddprun -n @ /bin/true", Role::own},
           {"Hydra (mpiexec)", "Hydra -n @ /bin/true", Role::peer},
           {"Open MPI (mpirun)", "Open MPI -n @ /bin/true", Role::peer},
           {"Slurm (srun)", "srun -n @ /bin/true", Role::peer},
           {"torchrun*", "torchrun*--nproc-per-node @ /bin/true", Role::peer}}};
}

Plan fail() {
  return {"bench-fail",
          "fail",
          "From the death of a worker to the end of the launcher",
          "Milliseconds; the other workers end on SIGTERM; logarithmic",
          kLogarithmic,
          Shown::median,
          {{"2", "1 of 2 workers"},
           {"8", "1 of 8 workers"},
           {"64", "1 of 64 workers"},
           {"node", "1 of 2 workers on two nodes, to the end of the other node"}},
          {{"ddprun", "death of 1 of @ to the end", Role::own},
           {"torchrun", "death of 1 of @ to the end: torchrun", Role::peer},
           {"ddprun", "death on @ 0 to the end of node 1", Role::own}}};
}

Plan restart() {
  return {"bench-restart",
          "restart",
          "From a loss until all workers run again",
          "Milliseconds",
          kLogarithmic,
          Shown::median,
          {{"1 of 2", "death of 1 of 2 workers"},
           {"1 of 8", "death of 1 of 8 workers"},
           {"1 of 64", "death of 1 of 64 workers"},
           {"1 of 3 nodes (--nnodes 2:3)", "loss of 1 of 3 nodes, going on with two"},
           {"1 of 2 nodes", "loss of 1 of 2 nodes, with a spare"}},
          {{"ddprun", "death of @ to all running again", Role::own},
           {"ddprun", "loss of @ to all running again", Role::own},
           {"ddprun", "loss of @ to all running again, with a spare", Role::own}}};
}

Plan rendezvous() {
  return {"bench-rendezvous",
          "rendezvous",
          "Nodes that meet, all of them on this machine",
          "Milliseconds from before the first launcher until the last worker runs; logarithmic",
          kLogarithmic,
          Shown::median,
          {{"2", "2 nodes"}, {"16", "16 nodes"}, {"128", "128 nodes"}},
          {{"each by itself", "@ times ddprun -n 1, each by itself: all run", Role::floor},
           {"ddprun, static", "@ nodes, static: all run", Role::own},
           {"ddprun, c10d", "@ nodes, c10d: all run", Role::own},
           {"torchrun, c10d", "@ nodes: torchrun, c10d", Role::peer}}};
}

std::vector<Series> servers(const std::string& row) {
  return {{"raw epoll", row + ": raw epoll", Role::floor},
          {"rdzvd", row + ": rdzvd", Role::own},
          {"PyTorch (libuv)", row + ": PyTorch (libuv)", Role::peer},
          {"Redis", row + ": Redis", Role::peer}};
}

Plan store(const std::string& name, const std::string& operation) {
  return {"bench-store-" + name,
          "store",
          "Store servers: " + operation,
          "Operations in a second, each connection with one request at a time",
          kLinear,
          Shown::per_second,
          {{"1 client", "1 connection"},
           {"64 clients", "64 connections"},
           {"1000 clients", "1,000 connections"},
           {"8000 clients", "8,000 connections"}},
          servers("@, " + operation)};
}

Plan join() {
  return {"bench-store-join",
          "store",
          "Clients that join through a store server",
          "Milliseconds until the last one has its neighbour's address",
          kLinear,
          Shown::median,
          {{"2000", "2,000 clients"}, {"10000", "10,000 clients"}},
          servers("@ clients join")};
}

Plan output() {
  return {"bench-output",
          "output",
          "Output of one worker",
          "Milliseconds; logarithmic",
          kLogarithmic,
          Shown::median,
          {{"lines", "a million lines of 69 bytes, until the launcher has ended"},
           {"a line", "delay of a line"}},
          {{"cat", "*@: cat", Role::floor},
           {"ddprun", "*@: ddprun", Role::own},
           {"ddprun -t 3", "*@: ddprun -t 3", Role::own},
           {"torchrun -t 3", "*@: torchrun -t 3", Role::peer}}};
}

Plan idle() {
  return {"bench-memory",
          "idle",
          "Memory of a launcher with 64 silent workers",
          "Proportional set size of all its processes in MB; logarithmic",
          kLogarithmic,
          Shown::median,
          {{"64", "64 workers"}},
          {{"ddprun", "memory (PSS, both processes), @ silent workers", Role::own},
           {"torchrun", "memory (PSS), @ silent workers: torchrun", Role::peer}}};
}

Plan train() {
  return {"bench-train",
          "train",
          "A training step of two ranks on this machine's CPUs",
          "Time in relation to Python's DistributedDataParallel, which is 1",
          kLinear,
          Shown::ratio,
          {{"perceptron", "small perceptron"}, {"LeNet", "LeNet"}, {"ResNet-18", "ResNet-18"}},
          {{"ddprun::ddp", "@, step: ddp", Role::own},
           {"with shared memory", "@, step: ddp, shared memory", Role::own}},
          1};
}

// What * stands for; none where the name is another. Without a * an empty text.
std::optional<std::string> match(const std::string& pattern, const std::string& name) {
  const std::size_t star = pattern.find('*');
  if (star == std::string::npos)
    return pattern == name ? std::optional(std::string()) : std::nullopt;
  const std::string before = pattern.substr(0, star), after = pattern.substr(star + 1);
  if (name.size() < before.size() + after.size() || !name.starts_with(before) ||
      !name.ends_with(after))
    return {};
  return name.substr(star, name.size() - before.size() - after.size());
}

std::string with(std::string text, char what, const std::string& in_its_place) {
  const std::size_t at = text.find(what);
  return at == std::string::npos ? text : text.replace(at, 1, in_its_place);
}

std::string without_blank_end(std::string text) {
  while (text.ends_with(' ')) text.pop_back();
  return text;
}

std::optional<double> shown(const bench::Result& result, Shown what) {
  if (result.values.empty()) return {};
  switch (what) {
    case Shown::median:
      return result.median;
    case Shown::ratio:
      return result.ratio;
    case Shown::per_second:  // rows are in microseconds
      return result.median > 0 ? std::optional(1e6 / result.median) : std::nullopt;
  }
  return {};
}

std::vector<Bar> bars_of(const Plan& plan, const std::string& word,
                         const std::vector<Figures>& figures) {
  std::vector<Bar> bars;
  for (const Series& series : plan.series)
    for (const Figures& each : figures)
      for (const bench::Result& result : each.results) {
        if (result.group != plan.group) continue;
        const auto found = match(with(series.row, '@', word), result.row.name);
        if (found)
          bars.push_back({without_blank_end(with(series.label, '*', *found)),
                          shown(result, plan.shown), series.role});
      }
  return bars;
}

Chart chart_of(const Plan& plan, const std::vector<Figures>& figures) {
  Chart chart{plan.title, plan.what, plan.scale, {}, plan.mark};
  for (const auto& [word, title] : plan.groups)
    if (auto bars = bars_of(plan, word, figures); !bars.empty())
      chart.groups.push_back({title, std::move(bars)});
  return chart;
}

}  // namespace

std::vector<NamedChart> charts_of(const std::vector<Figures>& figures) {
  std::vector<NamedChart> charts;
  for (const Plan& plan : {launch(), fail(), restart(), rendezvous(), store("add", "ADD"),
                           store("set-get", "SET and GET"), join(), output(), idle(), train()}) {
    Chart chart = chart_of(plan, figures);
    if (!chart.groups.empty()) charts.push_back({plan.name, plan.group, std::move(chart)});
  }
  return charts;
}

}  // namespace ddprun::bench
