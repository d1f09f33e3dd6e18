// Any words and any environment as a command line of ddprun, and what is accepted as a job on a
// node with four GPUs: nothing throws, a refusal is one line that says why, and a plan can be shown
// for people and for programs. The input is lines: words, and behind a `=` entries of the
// environment; the byte 0x1f stands for a newline in them.
#include <boost/json/parse.hpp>
#include <cstdint>
#include <string>
#include <variant>

#include "launcher/cli/parse.h"
#include "launcher/plan/dry_run.h"
#include "launcher/plan/make.h"
#include "launcher/report/plan_json.h"
#include "tests/fuzz/checks.h"

namespace {

using namespace ddprun;
using fuzz::require;

// More would only take longer.
constexpr int kMostWorkers = 64;

struct Input {
  std::vector<std::string> words;
  std::vector<std::string> entries;
};

Input read(std::string_view bytes) {
  Input input;
  for (const std::string_view line : fuzz::split(bytes, '\n')) {
    std::string text(line);
    std::ranges::replace(text, '\x1f', '\n');
    // Neither a word nor an entry can hold it.
    std::erase(text, '\0');
    if (text.starts_with('='))
      input.entries.push_back(text.substr(1));
    else
      input.words.push_back(text);
  }
  return input;
}

devices::NodeGpus four_gpus() {
  devices::NodeGpus node{.source = devices::Source::nvml};
  for (int i = 0; i < 4; ++i)
    node.gpus.push_back({.index = i, .uuid = "GPU-" + std::to_string(i) + "a", .name = "GPU"});
  return node;
}

void check_exit(const cli::Exit& exit) {
  if (exit.code == 0) {
    require(!exit.out.empty() && exit.err.empty() && exit.out.ends_with('\n'));
    return;
  }
  require(exit.code == 2 && exit.out.empty());
  require(exit.err.starts_with("ddprun: ") && exit.err.ends_with('\n'));
  require(fuzz::is_one_line(exit.err.substr(0, exit.err.size() - 1)));
}

void check_job(const cli::JobSpec& job, const Input& input) {
  require(job.doctor || !job.command.empty());
  for (const std::string& notice : job.notices) require(fuzz::is_one_line(notice));
  // The program's words are the last ones, untouched.
  require(job.command.size() <= input.words.size());
  require(std::equal(job.command.rbegin(), job.command.rend(), input.words.rbegin()));
  const cli::RendezvousSpec& nodes = job.rendezvous;
  require(1 <= nodes.min_nodes && nodes.min_nodes <= nodes.max_nodes);
  require(!nodes.several_nodes() ||
          (!nodes.endpoint.value.host.empty() && nodes.endpoint.value.port != 0));
  require(job.shutdown_timeout.count() >= 0 && job.restart_backoff.count() >= 0);
  require(!job.signals_to_handle.empty());
}

void check_plan(const cli::JobSpec& job, const cli::Environment& environment) {
  if (job.workers.number > kMostWorkers || job.simulated_gpus.value_or(0) > kMostWorkers) return;
  const devices::NodeGpus gpus = four_gpus();
  const devices::VisibleGpus visible = plan::visible_gpus(job, gpus, environment);
  const auto plan = plan::make(job, gpus, visible, {.host = "node0", .allowed_cpus = 4});
  if (!plan) return require(!plan.error().text.empty());
  require(!plan->workers.empty() && plan->world_size >= static_cast<int>(plan->workers.size()));
  for (const plan::WorkerPlan& worker : plan->workers) require(!worker.argv.empty());
  const plan::Meeting meeting{.master_addr = "127.0.0.1", .master_port = 29500, .run_id = "run"};
  require(plan::dry_run_table(*plan, meeting, environment).ends_with('\n'));
  const std::string json = report::plan_json(*plan, meeting, environment, "");
  boost::system::error_code error;
  const boost::json::value value = boost::json::parse(json, error);
  require(!error && value.is_object());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Input input = read(fuzz::view_of(data, size));
  const cli::Environment environment(input.entries);
  const auto parsed = cli::parse(input.words, environment);
  if (const auto* exit = std::get_if<cli::Exit>(&parsed)) {
    check_exit(*exit);
    return 0;
  }
  const auto& job = std::get<cli::JobSpec>(parsed);
  check_job(job, input);
  if (!job.command.empty()) check_plan(job, environment);
  return 0;
}
