// The soak of several rdzvds that are one: job after job, while members of etcd and rdzvds are
// killed and stopped under them, and nodes are killed. No job may be lost, no restart be spent but
// for a worker's failure, and nothing be left.
//
// usage: ddprun_etcd_soak --ddprun FILE --rdzvd FILE [--kills N] [--seed N]
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>

#include "tests/integration/etcd/soak/job.h"

namespace {

using namespace ddprun::etcd_soak;

constexpr int kCannotRun = 77;  // ctest takes it for a test that was skipped
// Of a run that has ended the head knows as long as a node may come back to hear of it.
constexpr std::chrono::seconds kForgets{40};

struct Options {
  std::string ddprun, rdzvd;
  int kills = 10;
  std::uint64_t seed = 1;
};

Options parse_options(int argc, char** argv) {
  std::map<std::string, std::string> values;
  for (int i = 1; i + 1 < argc; i += 2) values[argv[i]] = argv[i + 1];
  Options options{.ddprun = values["--ddprun"], .rdzvd = values["--rdzvd"]};
  if (values.contains("--kills")) options.kills = std::atoi(values["--kills"].c_str());
  if (values.contains("--seed"))
    options.seed = std::strtoull(values["--seed"].c_str(), nullptr, 10);
  if (argc % 2 == 0 || options.kills < 1 || options.ddprun.empty() || options.rdzvd.empty())
    throw std::runtime_error(
        "usage: ddprun_etcd_soak --ddprun FILE --rdzvd FILE [--kills N] [--seed N]");
  options.ddprun = std::filesystem::absolute(options.ddprun);
  options.rdzvd = std::filesystem::absolute(options.rdzvd);
  return options;
}

bool is_clean(const Chaos& chaos) {
  const auto until = std::chrono::steady_clock::now() + kForgets;
  int keys = chaos.count_keys();
  while (keys != 1 && std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    keys = chaos.count_keys();
  }
  std::printf("soak: %d keys are left in etcd; one is the head's\n", keys);
  return keys == 1;
}

int soak(const Options& options) {
  const auto start = std::chrono::steady_clock::now();
  const ddprun::test::TemporaryFolder folder;
  Chaos chaos(options.rdzvd, folder.path(), options.seed, options.kills);
  Tally nodes;
  int jobs = 0, lost = 0;
  for (std::uint64_t seed = options.seed; !chaos.is_over(); ++seed) {
    Job job(options.ddprun, chaos.endpoints(), seed);
    const std::string wrong = job.play(chaos);
    nodes.add(job.tally());
    ++jobs;
    if (wrong.empty()) continue;
    ++lost;
    const auto kept =
        std::filesystem::temp_directory_path() / ("ddprun-etcd-soak-" + std::to_string(seed));
    std::filesystem::copy(folder.path(), kept,
                          std::filesystem::copy_options::overwrite_existing |
                              std::filesystem::copy_options::recursive);
    std::printf("%s: %s\n  logs: %s\n", job.description().c_str(), wrong.c_str(), kept.c_str());
    std::fflush(stdout);
  }
  const bool clean = is_clean(chaos);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  Tally all = chaos.tally();
  all.add(nodes);
  std::printf("%s", all.text().c_str());
  std::printf(
      "soak: %d of %d jobs were lost, under %d kills and %d stops of members of etcd and "
      "rdzvds and %d kills of nodes; %.1f s each\n",
      lost, jobs, chaos.tally().of("killed"), chaos.tally().of("stopped"), nodes.of("killed"),
      took.count() / jobs);
  return lost == 0 && clean ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const Options options = parse_options(argc, argv);
    if (const std::string why = ddprun::test::RealEtcd::why_not(); !why.empty()) {
      std::fprintf(stderr, "ddprun_etcd_soak: %s\n", why.c_str());
      return kCannotRun;
    }
    return soak(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "ddprun_etcd_soak: %s\n", error.what());
    return 2;
  }
}
