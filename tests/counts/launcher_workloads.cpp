// What the launcher does without its workers: their output, the command line, the reports.
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "launcher/cli/parse.h"
#include "launcher/devices/discover.h"
#include "launcher/devices/visible.h"
#include "launcher/output/output.h"
#include "launcher/plan/command.h"
#include "launcher/plan/make.h"
#include "launcher/plan/worker_environment.h"
#include "launcher/report/json_report.h"
#include "rendezvous/base/unique_fd.h"
#include "tests/counts/counted.h"
#include "tests/unit/report/jobs.h"

namespace ddprun::counts {
namespace {

using namespace std::chrono_literals;

constexpr int kWriters = 4;
constexpr int kWorkers = 64;
constexpr std::size_t kLinesAtOnce = 500;  // 30 KB, which a pipe takes

std::string lines_of(std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i)
    text += "step " + std::to_string(100'000 + i) + " loss 0.123456 learning rate 0.001000 ok\n";
  return text;
}

// What a job of 64 workers is planned from.
plan::LaunchPlan plan_of(const cli::Environment& environment) {
  const std::vector<std::string> words{"--nproc-per-node",
                                       "64",
                                       "--device=cpu",
                                       "--max-restarts",
                                       "3",
                                       "-t",
                                       "3",
                                       "--log-dir",
                                       "/tmp/logs",
                                       "--rdzv-id",
                                       "counts",
                                       "--signals-to-handle=SIGTERM",
                                       "--shutdown-timeout",
                                       "10",
                                       "--wrap",
                                       "*:numactl -N %l",
                                       "./train",
                                       "--epochs=100",
                                       "--batch-size=256",
                                       "--data=/data/set"};
  auto parsed = cli::parse(words, environment);
  if (const auto* refused = std::get_if<cli::Exit>(&parsed)) throw std::logic_error(refused->err);
  const auto& job = std::get<cli::JobSpec>(parsed);
  const devices::NodeGpus gpus = devices::simulate(0);
  auto plan = plan::make(job, gpus, devices::visible({}, gpus), {"gpu07", 64, true, "python3"});
  if (!plan) throw std::logic_error(plan.error().text);
  return std::move(*plan);
}

cli::Environment environment_of_user() {
  std::vector<std::string> entries{"PATH=/usr/bin:/bin", "HOME=/home/user", "LANG=C.UTF-8"};
  for (int i = 0; i < 50; ++i)
    entries.push_back("VARIABLE_" + std::to_string(i) + "=a value of some length");
  return cli::Environment(std::move(entries));
}

}  // namespace

void run_output(std::size_t lines) {
  boost::asio::io_context io;
  const UniqueFd null(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  output::Output output(io, {.local_workers = kWriters,
                             .world_size = kWriters,
                             .stdout_fd = null.get(),
                             .stderr_fd = null.get(),
                             .prefix = std::string(output::kDefaultPrefix)});
  std::vector<output::WorkerStreams> writers;
  for (int i = 0; i < kWriters; ++i)
    writers.push_back(std::move(output.open({.rank = i, .local_rank = i}).value()));
  const std::string block = lines_of(kLinesAtOnce);
  for (std::size_t written = 0; written < lines;) {
    for (const output::WorkerStreams& writer : writers) {
      must(::write(writer.out.get(), block.data(), block.size()) ==
               static_cast<ssize_t>(block.size()),
           "a pipe does not take a block of lines");
      written += kLinesAtOnce;
    }
    counted([&] { io.poll(); });
  }
  for (int i = 0; i < kWriters; ++i)
    must(output.tail_stdout(i).back() + "\n" ==
             lines_of(kLinesAtOnce).substr(block.size() - block.size() / kLinesAtOnce),
         "the last line was not read");
}

void run_command_line(std::size_t times) {
  const cli::Environment environment = environment_of_user();
  for (std::size_t i = 0; i < times; ++i) {
    std::size_t words = 0;
    counted([&] {
      const plan::LaunchPlan plan = plan_of(environment);
      const plan::WorkerEnvironment variables(
          plan, {.master_addr = "127.0.0.1", .master_port = 29'500, .run_id = "counts"},
          environment);
      for (const plan::WorkerPlan& worker : plan.workers)
        words += plan::command_line(worker, plan.host, 0).size() +
                 variables.own(worker, "/tmp/error.json").size();
    });
    must(words == kWorkers * (3 + 4 + 5), "a command line has another length");
  }
}

void run_report(std::size_t times) {
  report::Job job(kWorkers);
  job.fail_first(17, report::exited(7), 1s);
  for (auto& lines : job.facts.last_stderr) lines.assign(20, "a line of a worker's output");
  for (std::size_t i = 0; i < times; ++i) {
    std::string text, json;
    counted([&] {
      text = job.text();
      json = report::json_report(job.outcome, job.facts,
                                 {.version = "0.1.0", .run_id = "counts", .command = {"./train"}},
                                 {.code = 7});
    });
    must(text.find("rank 17") != std::string::npos && json.find("\"rank\":63") != std::string::npos,
         "a report does not name its ranks");
  }
}

}  // namespace ddprun::counts
