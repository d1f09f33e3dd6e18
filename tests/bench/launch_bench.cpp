// What launching costs: ddprun against a bare posix_spawn and waitpid, its memory, and how fast it
// ends after a worker was killed. Figures for people: a missed limit is printed, and only a failed
// measurement is a failure.
//
// usage: launch_bench --ddprun FILE [--rounds N] [-- OPTIONS FOR DDPRUN…]
#include <signal.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/bench/observed_process.h"

namespace ddprun::bench {
namespace {

using Words = std::vector<std::string>;

struct Options {
  std::string ddprun;
  std::string floor;
  int rounds = 30;
  Words ddprun_options;
};

// One thing to measure, once in each round.
struct Case {
  std::string name;
  std::string unit;
  std::function<double()> measure;
  double limit = 0;        // an upper limit for the median, or for its ratio to `floor`; 0: none
  std::string floor = {};  // the name of the case this one is compared with
  std::vector<double> values = {};

  // The value that `percent` of the values do not exceed.
  double percentile(double percent) const {
    std::vector<double> sorted = values;
    std::sort(sorted.begin(), sorted.end());
    return sorted[static_cast<std::size_t>(percent / 100 * static_cast<double>(sorted.size() - 1) +
                                           0.5)];
  }
};

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

void expect_code(int code, int expected, const Words& command) {
  if (code == expected) return;
  std::string text;
  for (const std::string& word : command) text += word + " ";
  throw std::runtime_error(text + "ended with " + std::to_string(code) + " instead of " +
                           std::to_string(expected));
}

Words ddprun_command(const Options& options, int workers, const Words& program) {
  Words command = {options.ddprun};
  command.insert(command.end(), options.ddprun_options.begin(), options.ddprun_options.end());
  command.insert(command.end(), {"-n", std::to_string(workers)});
  command.insert(command.end(), program.begin(), program.end());
  return command;
}

double time_of(const Words& command) {
  const auto start = Clock::now();
  ObservedProcess process(command);
  const int code = process.wait();
  const double elapsed = milliseconds_since(start);
  expect_code(code, 0, command);
  return elapsed;
}

// Starts `workers` silent workers, waits until all of them run and the launcher has come to rest.
std::vector<pid_t> silent_workers(const ObservedProcess& ddprun, int workers) {
  std::vector<pid_t> pids =
      wait_for_descendants(ddprun.pid(), "sleep", static_cast<std::size_t>(workers));
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  return pids;
}

double time_from_kill_to_end(const Options& options, int workers) {
  const Words command = ddprun_command(options, workers, {"/bin/sleep", "600"});
  ObservedProcess ddprun(command);
  const std::vector<pid_t> pids = silent_workers(ddprun, workers);
  const pid_t victim = pids[static_cast<std::size_t>(std::rand()) % pids.size()];
  const auto start = Clock::now();
  ::kill(victim, SIGKILL);
  const int code = ddprun.wait();
  const double elapsed = milliseconds_since(start);
  expect_code(code, 128 + SIGKILL, command);
  return elapsed;
}

double memory_of_ddprun(const Options& options, int workers) {
  const Words command = ddprun_command(options, workers, {"/bin/sleep", "600"});
  ObservedProcess ddprun(command);
  silent_workers(ddprun, workers);
  double megabytes = pss_megabytes(ddprun.pid());
  for (const pid_t pid : descendants(ddprun.pid())) {
    if (short_name(pid) != "sleep") megabytes += pss_megabytes(pid);
  }
  ::kill(ddprun.pid(), SIGTERM);
  expect_code(ddprun.wait(), 128 + SIGTERM, command);
  return megabytes;
}

std::vector<Case> all_cases(const Options& options) {
  std::vector<Case> cases;
  for (const auto& [workers, limit] : {std::pair{2, 3.0}, std::pair{64, 1.5}}) {
    const std::string n = std::to_string(workers);
    const Words floor = {options.floor, n, "/bin/true"};
    const Words ddprun = ddprun_command(options, workers, {"/bin/true"});
    cases.push_back({"spawn_floor " + n + " /bin/true", "ms", [floor] { return time_of(floor); }});
    cases.push_back({"ddprun -n " + n + " /bin/true", "ms", [ddprun] { return time_of(ddprun); },
                     limit, cases.back().name});
  }
  for (const int workers : {2, 4, 8}) {
    cases.push_back({"kill -9 of 1 of " + std::to_string(workers) + " workers to the end", "ms",
                     [options, workers] { return time_from_kill_to_end(options, workers); }, 10});
  }
  cases.push_back({"memory (PSS) with 64 silent workers", "MB",
                   [options] { return memory_of_ddprun(options, 64); }, 10});
  return cases;
}

// Interleaved and shuffled, so that a slow minute of the machine falls on all cases alike.
void measure(std::vector<Case>& cases, int rounds) {
  std::vector<std::size_t> order(cases.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::mt19937 random(std::random_device{}());
  for (int round = 0; round < rounds; ++round) {
    std::shuffle(order.begin(), order.end(), random);
    for (const std::size_t i : order) cases[i].values.push_back(cases[i].measure());
  }
}

std::string formatted(const char* format, double value) {
  char text[32];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

void print_row(const Case& c, const Case* floor) {
  const double median = c.percentile(50);
  const double ratio = floor ? median / floor->percentile(50) : 0;
  const double judged = floor ? ratio : median;
  const std::string spread =
      formatted("%.2f", c.percentile(10)) + " - " + formatted("%.2f", c.percentile(90));
  std::string limit;
  if (c.limit > 0) limit = formatted("%.1f ", c.limit) + (judged < c.limit ? "met" : "MISSED");
  std::printf("%-40s %9.2f %s %18s %7s %11s\n", c.name.c_str(), median, c.unit.c_str(),
              spread.c_str(), floor ? formatted("%.2f", ratio).c_str() : "", limit.c_str());
}

void print(const std::vector<Case>& cases, int rounds) {
  std::printf(
      "%d rounds in random order; spread: 10th to 90th percentile; ratio: to spawn_floor\n\n",
      rounds);
  std::printf("%-40s %12s %18s %7s %11s\n", "", "median", "spread", "ratio", "limit");
  for (const Case& c : cases) {
    const auto floor =
        std::find_if(cases.begin(), cases.end(), [&](const Case& f) { return f.name == c.floor; });
    print_row(c, floor == cases.end() ? nullptr : &*floor);
  }
}

Options parse(int argc, char** argv) {
  Options options;
  options.floor = std::filesystem::read_symlink("/proc/self/exe").replace_filename("spawn_floor");
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--") {
      options.ddprun_options.assign(argv + i + 1, argv + argc);
      break;
    }
    if (i + 1 == argc) throw std::runtime_error("unknown option or missing value: " + word);
    if (word == "--ddprun") {
      options.ddprun = argv[++i];
    } else if (word == "--rounds") {
      options.rounds = std::atoi(argv[++i]);
    } else {
      throw std::runtime_error("unknown option: " + word);
    }
  }
  if (options.ddprun.empty() || options.rounds < 1) {
    throw std::runtime_error(
        "usage: launch_bench --ddprun FILE [--rounds N] [-- OPTIONS FOR DDPRUN…]");
  }
  return options;
}

}  // namespace
}  // namespace ddprun::bench

int main(int argc, char** argv) {
  using namespace ddprun::bench;
  try {
    const Options options = parse(argc, argv);
    std::vector<Case> cases = all_cases(options);
    measure(cases, options.rounds);
    print(cases, options.rounds);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "launch_bench: %s\n", error.what());
    return 1;
  }
}
