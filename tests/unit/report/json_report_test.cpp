#include "launcher/report/json_report.h"

#include <gmock/gmock.h>

#include <boost/json/parse.hpp>

#include "rendezvous/base/read_file.h"
#include "tests/integration/support/json_schema.h"
#include "tests/unit/report/jobs.h"

namespace ddprun::report {
namespace {

namespace json = boost::json;
using ::testing::IsEmpty;

// Midnight, 1 January 2026, when the job's workers were started; ddprun itself one second before.
JobRecord record() {
  return {.version = "1.2.3",
          .run_id = "abc",
          .command = {"./train", "--name=\xff"},
          .host = "gpu07",
          .clock = {Job::start(), std::chrono::system_clock::time_point(1767225600s)},
          .timings = {.begun = Job::start() - 1s,
                      .parsed = Job::start() - 990ms,
                      .planned = Job::start() - 980ms,
                      .store_listening = Job::start() - 970ms,
                      .ended = Job::start() + 3s}};
}

void expect_valid(const json::value& report) {
  static const json::value schema = json::parse(read_file(DDPRUN_REPORT_SCHEMA).value());
  EXPECT_THAT(test::schema_faults(report, schema), IsEmpty());
}

json::object parsed(Job& job, const ExitDecision& end = {}) {
  job.facts.plan = &job.plan;
  json::value report = json::parse(json_report(job.outcome, job.facts, record(), end));
  expect_valid(report);
  return std::move(report.as_object());
}

json::object plain(const json::value& value) {
  return value.as_object();
}

TEST(JsonReport, Success) {
  Job job(2);
  for (int rank : {0, 1}) job.end(rank, Ending::exited_zero, exited(0), 2s);
  const json::object report = parsed(job);
  EXPECT_EQ(report.at("cause"), "success");
  EXPECT_EQ(report.at("exit_code"), 0);
  EXPECT_EQ(report.at("message"), nullptr);
  EXPECT_EQ(report.at("root_cause"), nullptr);
  EXPECT_EQ(report.at("command"), json::value({"./train", "--name=\\xff"}));
  EXPECT_EQ(report.at("started"), "2025-12-31T23:59:59.000000000Z");
  EXPECT_EQ(report.at("seconds"), 4.0);
  const json::object rank = plain(report.at("ranks").at(1));
  EXPECT_EQ(rank.at("class"), "exited_zero");
  EXPECT_EQ(rank.at("ended"), "2026-01-01T00:00:02.000000000Z");
  EXPECT_EQ(rank.at("seconds"), 2.0);
  EXPECT_EQ(rank.at("code"), 0);
  EXPECT_EQ(rank.at("device"), "cpu");
}

TEST(JsonReport, AFailedWorker) {
  Job job(3);
  job.plan.workers[2].cuda_ordinal = 0;
  job.plan.workers[2].gpu = devices::Gpu{3, "GPU-1", "0000:3b:00.0", "H200"};
  job.fail_first(2, died(SIGABRT, true), 1204ms);
  job.outcome.stopping_since = Job::start() + 1204ms;
  job.facts.last_stderr[2] = {"what(): \xc3\xa4\xff", "\x1b[1mbold"};
  job.facts.error_files[2] =
      parse_error_file(R"({"message": {"message": "boom", "extraInfo": {"waited_for": [0, 1]}}})");
  job.facts.log_dir = "/logs/attempt_0";
  job.facts.core = "core: /x/core";
  job.facts.stacks = {"/logs/attempt_0/0/stacks.txt"};
  job.outcome.leftovers = {{17, "sleep 9"}};
  const json::object report = parsed(job, {134, 0});
  EXPECT_EQ(report.at("cause"), "worker_failed");
  EXPECT_EQ(report.at("exit_code"), 134);
  EXPECT_EQ(report.at("message"),
            "rank 2 failed first: SIGABRT (aborted, core dumped) after 1.204 s");
  const json::object cause = plain(report.at("root_cause"));
  EXPECT_EQ(cause.at("rank"), 2);
  EXPECT_EQ(cause.at("last_stderr"), json::value({"what(): \xc3\xa4\\xff", "\x1b[1mbold"}));
  EXPECT_EQ(cause.at("error_file").at("message"), json::value({"boom"}));
  EXPECT_EQ(cause.at("error_file").at("waited_for"), json::value({0, 1}));
  EXPECT_EQ(cause.at("logs"), "/logs/attempt_0/2/");
  EXPECT_EQ(cause.at("core"), "core: /x/core");
  const json::object rank = plain(report.at("ranks").at(2));
  EXPECT_EQ(rank.at("signal"), "SIGABRT");
  EXPECT_EQ(rank.at("code"), nullptr);
  EXPECT_EQ(rank.at("core_dumped"), true);
  EXPECT_EQ(rank.at("device"), "cuda:0");
  EXPECT_EQ(rank.at("gpu").at("id"), 3);
  EXPECT_EQ(report.at("ranks").at(0).at("class"), "stopped");
  EXPECT_EQ(report.at("ranks").at(0).at("signalled_by_ddprun"), "SIGTERM");
  EXPECT_EQ(report.at("ranks").at(0).at("stacks"), "/logs/attempt_0/0/stacks.txt");
  EXPECT_EQ(report.at("leftovers").at(0).at("pid"), 17);
  EXPECT_DOUBLE_EQ(report.at("timings").at("stopping").as_double(), 2.204);
  EXPECT_DOUBLE_EQ(report.at("timings").at("first_worker_started").as_double(), 1.0);
}

TEST(JsonReport, OutOfMemory) {
  Job job(1);
  job.fail_first(0, died(SIGKILL), 1s);
  job.facts.out_of_memory = OutOfMemory{2, 4096};
  const json::object report = parsed(job);
  EXPECT_EQ(report.at("root_cause").at("out_of_memory").at("kills"), 2);
  EXPECT_EQ(report.at("root_cause").at("out_of_memory").at("limit_bytes"), 4096);
}

TEST(JsonReport, EarlierAttemptsAndAWorkerThatNeverRan) {
  Job job(2);
  job.facts.earlier_attempts = {{0, Cause::worker_failed, 1, exited(3), 83ms},
                                {1, Cause::progress_timeout, 0, std::nullopt, 5s, 2s}};
  job.facts.attempt = 2;
  job.outcome.workers[1] = {1, 0, {}, std::nullopt, std::nullopt, Ending::not_started, 0};
  const json::object report = parsed(job);
  EXPECT_EQ(report.at("attempt"), 2);
  EXPECT_EQ(report.at("restarts").at(0).at("code"), 3);
  EXPECT_EQ(report.at("restarts").at(1).at("what"), "no progress for 2 s (--progress-timeout)");
  EXPECT_EQ(report.at("ranks").at(1).at("pid"), nullptr);
  EXPECT_EQ(report.at("ranks").at(1).at("started"), nullptr);
}

TEST(JsonReport, EveryCauseIsInTheSchema) {
  for (Cause cause :
       {Cause::success, Cause::worker_failed, Cause::exec_failed, Cause::stop_signal,
        Cause::guardian_lost, Cause::progress_timeout, Cause::exit_grace, Cause::timeout}) {
    Job job(2);
    job.fail_first(0, exited(3), 1s);
    job.outcome.cause = cause;
    job.outcome.stop_signal = SIGTERM;
    parsed(job, {143, SIGTERM});
  }
}

TEST(JsonReport, ARefusalHasTheSameMembers) {
  JobRecord job = record();
  job.run_id.clear();
  job.timings.store_listening.reset();
  const json::value report = json::parse(json_refusal(job, "refused", "no GPU 9", {2, 0}));
  expect_valid(report);
  EXPECT_EQ(report.at("message"), "no GPU 9");
  EXPECT_EQ(report.at("exit_code"), 2);
  EXPECT_EQ(report.at("timings").at("store_listening"), nullptr);
  EXPECT_THAT(report.at("ranks").as_array(), IsEmpty());
}

TEST(JsonReport, OneLineForEachRankAndFastForMany) {
  Job job(512);
  job.facts.plan = &job.plan;
  const auto before = std::chrono::steady_clock::now();
  const std::string text = json_report(job.outcome, job.facts, record(), {});
  EXPECT_LT(std::chrono::steady_clock::now() - before, 500ms);
  EXPECT_LT(std::count(text.begin(), text.end(), '\n'), 512 + 40);
  EXPECT_NE(text.find("\n    {\"rank\":511,"), std::string::npos);
}

TEST(SchemaFaults, AreFound) {
  const json::value schema = json::parse(read_file(DDPRUN_REPORT_SCHEMA).value());
  json::value report = json::parse(json_refusal(record(), "refused", "", {}));
  report.as_object()["more"] = 1;
  report.as_object()["cause"] = "mishap";
  report.as_object().erase("ranks");
  report.as_object()["exit_code"] = "2";
  EXPECT_EQ(test::schema_faults(report, schema).size(), 4U);
}

}  // namespace
}  // namespace ddprun::report
