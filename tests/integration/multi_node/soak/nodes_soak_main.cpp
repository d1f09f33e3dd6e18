// The soak of several nodes: four real ddpruns and a real rdzvd on loopback, in round after round
// under random faults. Each round is one job and has a seed of its own, so one that went wrong can
// be repeated alone. One rdzvd lives through all rounds that do not kill it; in the end it must not
// hold more than in the beginning.
//
// usage: ddprun_nodes_soak --ddprun FILE --rdzvd FILE --rdzvctl FILE [--rounds N] [--seed N]
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>

#include "tests/integration/multi_node/soak/stage.h"

namespace {

using namespace ddprun::nodes_soak;

constexpr long kGrowth = 1024;  // KB that are taken for noise
constexpr int kCannotRun = 77;  // ctest takes it for a test that was skipped
// For rdzvd to see that the last connection has ended.
constexpr std::chrono::seconds kSettles{10};

struct Options {
  Programs programs;
  int rounds = 20;
  std::uint64_t seed = 1;
};

Options parse_options(int argc, char** argv) {
  std::map<std::string, std::string> values;
  for (int i = 1; i + 1 < argc; i += 2) values[argv[i]] = argv[i + 1];
  Options options;
  options.programs = {
      .ddprun = values["--ddprun"], .rdzvd = values["--rdzvd"], .rdzvctl = values["--rdzvctl"]};
  if (values.contains("--rounds")) options.rounds = std::atoi(values["--rounds"].c_str());
  if (values.contains("--seed"))
    options.seed = std::strtoull(values["--seed"].c_str(), nullptr, 10);
  const Programs& programs = options.programs;
  if (argc % 2 == 0 || options.rounds < 1 || programs.ddprun.empty() || programs.rdzvd.empty() ||
      programs.rdzvctl.empty())
    throw std::runtime_error(
        "usage: ddprun_nodes_soak --ddprun FILE --rdzvd FILE --rdzvctl FILE [--rounds N] "
        "[--seed N]");
  for (std::string* path :
       {&options.programs.ddprun, &options.programs.rdzvd, &options.programs.rdzvctl})
    *path = std::filesystem::absolute(*path);
  options.programs.worker =
      std::filesystem::read_symlink("/proc/self/exe").parent_path() / "soak_node_worker";
  // All nodes would agree that they cannot start it, 500 times.
  for (const std::string& path :
       {programs.ddprun, programs.rdzvd, programs.rdzvctl, programs.worker})
    if (::access(path.c_str(), X_OK) != 0) throw std::runtime_error(path + " cannot be executed");
  return options;
}

// What rdzvd holds between two rounds.
struct Held {
  long kilobytes = 0;
  long descriptors = 0;
};

Held held_by(const Daemon& daemon) {
  return {daemon.kilobytes(), daemon.descriptors()};
}

// How the first node ended; shows that the faults came in time to do harm.
struct Tally {
  std::map<std::string, int> ends;

  void add(const Observation& seen) {
    for (const Life& life : seen.lives) {
      const std::string how =
          life.signal != 0 ? "signal " + std::to_string(life.signal) : std::to_string(life.code);
      ++ends[life.code >= 20 && life.code < 90 ? "20-89" : how];
    }
  }
  void print() const {
    std::printf("soak: ends of ddprun:");
    for (const auto& [how, count] : ends) std::printf(" %s: %d;", how.c_str(), count);
    std::printf("\n");
  }
};

bool is_no_more(const Held& after, const Held& before) {
  return after.descriptors <= before.descriptors && after.kilobytes <= before.kilobytes + kGrowth;
}

bool has_returned(const Daemon& daemon, const Held& before) {
  const auto deadline = std::chrono::steady_clock::now() + kSettles;
  Held after = held_by(daemon);
  while (!is_no_more(after, before) && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    after = held_by(daemon);
  }
  if (!daemon.is_alive()) {
    std::printf("soak: rdzvd has ended\n");
    return false;
  }
  std::printf(
      "soak: rdzvd held %ld KB and %ld descriptors after the first half of the rounds, %ld and %ld "
      "in the end\n",
      before.kilobytes, before.descriptors, after.kilobytes, after.descriptors);
  return is_no_more(after, before);
}

int soak(Stage& stage, const Options& options) {
  std::printf("soak: %d rounds on %d nodes, seeds from %llu on\n", options.rounds, kNodes,
              static_cast<unsigned long long>(options.seed));
  std::fflush(stdout);
  const auto start = std::chrono::steady_clock::now();
  int failures = 0;
  Tally tally;
  Held before;
  // What the first rounds bring into a process for good: buffers, code that is read.
  const int warm_up = (options.rounds + 1) / 2;
  for (int round = 0; round < options.rounds; ++round) {
    const auto scenario = scenario_of(options.seed + static_cast<std::uint64_t>(round));
    const auto [seen, wrong] = stage.play(scenario);
    tally.add(seen);
    if (round < warm_up) before = held_by(stage.daemon());
    if (wrong.empty()) continue;
    ++failures;
    std::printf("%s\n  %s\n", describe(scenario).c_str(), wrong.c_str());
    std::fflush(stdout);
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  tally.print();
  std::printf("soak: %d of %d rounds went wrong; %.1f s each\n", failures, options.rounds,
              took.count() / options.rounds);
  const bool returned = has_returned(stage.daemon(), before);
  return failures == 0 && returned ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const Options options = parse_options(argc, argv);
    if (const std::string why = Stage::why_not(); !why.empty()) {
      std::fprintf(stderr, "ddprun_nodes_soak: %s\n", why.c_str());
      return kCannotRun;
    }
    Stage stage(options.programs);
    return soak(stage, options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "ddprun_nodes_soak: %s\n", error.what());
    return 2;
  }
}
