// What launching and meeting cost, against a bare posix_spawn and waitpid, cat and PyTorch. Figures
// for people: a missed goal is printed, and only a failed measurement is a failure (exit code 1).
// docs/benchmarks.md explains the rows.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tests/bench/groups.h"
#include "tests/bench/machine.h"
#include "tests/bench/rounds.h"
#include "tests/bench/table.h"

namespace ddprun::bench {
namespace {

constexpr char kUsage[] =
    "usage: ddprun_bench --ddprun FILE [--rdzvd FILE] [--baseline FILE] [--rounds N]\n"
    "                    [--python FILE] [--other-python FILE] [--redis FILE]\n"
    "                    [--most-workers N] [--most-clients N] [--most-models N]\n"
    "                    [--operations N] [--lines N] [--json FILE]\n"
    "                    [GROUP…] [-- OPTIONS FOR DDPRUN…]\n"
    "groups: launch fail restart rendezvous store output idle train baseline (all of them)\n";

constexpr std::pair<const char*, std::vector<Block> (*)(const Setup&)> kGroups[] = {
    {"launch", launch_group},    {"fail", fail_group},
    {"restart", restart_group},  {"rendezvous", rendezvous_group},
    {"store", store_group},      {"output", output_group},
    {"idle", idle_group},        {"train", train_group},
    {"baseline", baseline_group}};

struct Options {
  Setup setup;
  int rounds = 15;
  std::string json;
  Words groups;
};

int count_in(const std::string& option, const std::string& word) {
  const int count = std::atoi(word.c_str());
  if (count < 1) throw std::invalid_argument(option + ": '" + word + "' is no number from 1 on");
  return count;
}

void take(Options& options, const std::string& option, const std::string& value) {
  Setup& setup = options.setup;
  if (option == "--ddprun") {
    setup.ddprun = value;
  } else if (option == "--rdzvd") {
    setup.rdzvd = value;
  } else if (option == "--python") {
    setup.python = value == "none" ? "" : value;
  } else if (option == "--other-python") {
    setup.other_python = value;
  } else if (option == "--redis") {
    setup.redis = value;
  } else if (option == "--baseline") {
    setup.baseline = value;
  } else if (option == "--json") {
    options.json = value;
  } else if (option == "--rounds") {
    options.rounds = count_in(option, value);
  } else if (option == "--most-workers") {
    setup.most_workers = count_in(option, value);
  } else if (option == "--most-clients") {
    setup.most_clients = count_in(option, value);
  } else if (option == "--most-models") {
    setup.most_models = count_in(option, value);
  } else if (option == "--operations") {
    setup.store_operations = count_in(option, value);
  } else if (option == "--lines") {
    setup.lines = count_in(option, value);
  } else {
    throw std::invalid_argument("unknown option " + option);
  }
}

Options parse(const Words& words) {
  Options options;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--") {
      options.setup.ddprun_options.assign(words.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                                          words.end());
      break;
    }
    if (words[i].rfind("--", 0) != 0) {
      options.groups.push_back(words[i]);
    } else if (i + 1 == words.size()) {
      throw std::invalid_argument(words[i] + " needs a value");
    } else {
      take(options, words[i], words[i + 1]);
      ++i;
    }
  }
  if (options.setup.ddprun.empty()) throw std::invalid_argument("--ddprun is needed");
  return options;
}

std::vector<Block> blocks_of(const Options& options) {
  Words left = options.groups;
  std::vector<Block> blocks;
  for (const auto& [name, make] : kGroups) {
    if (!options.groups.empty() && std::erase(left, name) == 0) continue;
    for (Block& block : make(options.setup)) blocks.push_back(std::move(block));
  }
  if (blocks.empty() && left.empty())
    throw std::invalid_argument("the group baseline needs --baseline FILE");
  if (!left.empty()) throw std::invalid_argument("unknown group " + left.front());
  return blocks;
}

void write(const std::string& file, const std::string& text) {
  if (file.empty()) return;
  std::ofstream stream(file);
  if (!(stream << text).flush()) throw std::runtime_error("cannot write " + file);
}

// Debian's redis-tools has the server's program, as one that checks files; its own name makes it
// the server. The package redis-server would start one on this machine.
std::string installed_redis() {
  for (const char* program : {"/usr/bin/redis-server", "/usr/bin/redis-check-rdb"})
    if (std::filesystem::exists(program)) return program;
  return "";
}

// A file that a linker wrote in small pieces lies in the page cache in small pieces, and a start
// from it takes 7 % longer than one from a copy. So all programs are copies, as installed ones are.
void copy_programs(Setup& setup) {
  namespace fs = std::filesystem;
  const fs::path here = fs::read_symlink("/proc/self/exe").parent_path();
  const fs::path copies = here / "copies";
  fs::remove_all(copies);
  fs::create_directory(copies);
  const auto copy = [&](const fs::path& program, const char* name) -> std::string {
    fs::copy_file(program, copies / name);
    return copies / name;
  };
  setup.floor = copy(here / "spawn_floor", "spawn_floor");
  setup.duties = copy(here / "spawn_duties", "spawn_duties");
  setup.worker = copy(here / "bench_worker", "bench_worker");
  setup.agents = copy(here / "simulated_agents", "simulated_agents");
  if (fs::exists(here / "train_worker")) {
    setup.train_worker = copy(here / "train_worker", "train_worker");
  }
  setup.train_script = copy(here / "train_worker.py", "train_worker.py");
  setup.store_clients = copy(here / "store_clients", "store_clients");
  setup.store_load = copy(here / "store_load", "store_load");
  setup.epoll_store = copy(here / "epoll_store", "epoll_store");
  setup.redis_store = copy(here / "redis_store", "redis_store");
  if (setup.redis.empty()) setup.redis = installed_redis();
  if (!setup.redis.empty()) setup.redis = copy(setup.redis, "redis-server");
  setup.names = copy(here / "names", "names");
  setup.libuv_store = copy(here / "libuv_store.py", "libuv_store.py");
  const fs::path beside = fs::path(setup.ddprun).replace_filename("rdzvd");
  if (setup.rdzvd.empty() && fs::exists(beside)) setup.rdzvd = beside;
  if (!setup.rdzvd.empty()) setup.rdzvd = copy(setup.rdzvd, "rdzvd");
  setup.ddprun = copy(setup.ddprun, "ddprun");
  if (!setup.baseline.empty()) setup.baseline = copy(setup.baseline, "baseline");
}

bool run(Options options) {
  copy_programs(options.setup);
  std::vector<Block> blocks = blocks_of(options);
  const Facts facts = facts_of(options.setup, options.rounds);
  for (const auto& [name, value] : facts) std::printf("%s: %s\n", name.c_str(), value.c_str());
  const bool complete = measure(blocks, options.rounds);
  const std::vector<Result> results = results_of(blocks);
  std::fputs(text_table(results).c_str(), stdout);
  write(options.json, json(facts, options.rounds, results));
  return complete;
}

}  // namespace
}  // namespace ddprun::bench

int main(int argc, char** argv) {
  using namespace ddprun::bench;
  try {
    return run(parse(Words(argv + 1, argv + argc))) ? 0 : 1;
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "ddprun_bench: %s\n%s", error.what(), kUsage);
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "ddprun_bench: %s\n", error.what());
    return 1;
  }
}
