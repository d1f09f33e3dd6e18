// The crash soak: many short runs of ddprun under random failures, stop signals and kills, each of
// which must name the right rank and leave no process, no file and no port behind. Every run has a
// seed of its own, so one that went wrong can be repeated alone.
//
// usage: ddprun_soak --ddprun FILE [--runs N] [--seed N]
#include <signal.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <stdexcept>
#include <string>

#include "tests/integration/launcher/soak/arena.h"

namespace {

using ddprun::soak::Arena;

struct Options {
  std::string ddprun;
  int runs = 30;
  std::uint64_t seed = 1;
};

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string name = argv[i];
    if (name == "--ddprun") options.ddprun = argv[i + 1];
    if (name == "--runs") options.runs = std::atoi(argv[i + 1]);
    if (name == "--seed") options.seed = std::strtoull(argv[i + 1], nullptr, 10);
  }
  if (argc % 2 == 0 || options.ddprun.empty() || options.runs < 1)
    throw std::runtime_error("usage: ddprun_soak --ddprun FILE [--runs N] [--seed N]");
  options.ddprun = std::filesystem::absolute(options.ddprun);
  return options;
}

// Shows that the disturbances came in time to disturb.
struct Tally {
  int failed = 0, stopped = 0, killed = 0;

  void add(const ddprun::soak::End& end) {
    ++(end.signal == 0 ? failed : end.signal == SIGKILL ? killed : stopped);
  }
};

int soak(const Options& options) {
  const auto here = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  Arena arena(options.ddprun, here / "soak_worker");
  std::printf("soak: %d runs, seeds from %llu on\n", options.runs,
              static_cast<unsigned long long>(options.seed));
  const auto start = std::chrono::steady_clock::now();
  int failures = 0;
  Tally tally;
  for (int run = 0; run < options.runs; ++run) {
    const auto scenario = ddprun::soak::scenario_of(options.seed + static_cast<std::uint64_t>(run));
    const auto [end, wrong] = arena.run(scenario);
    tally.add(end);
    if (wrong.empty()) continue;
    ++failures;
    std::printf("%s\n  %s\n", describe(scenario).c_str(), wrong.c_str());
    std::fflush(stdout);
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  std::printf("soak: %d runs ended by a failing worker, %d by a stop signal, %d by a kill\n",
              tally.failed, tally.stopped, tally.killed);
  std::printf("soak: %d of %d runs went wrong; %.0f ms each\n", failures, options.runs,
              took.count() * 1000 / options.runs);
  return failures == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return soak(parse(argc, argv));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "ddprun_soak: %s\n", error.what());
    return 2;
  }
}
