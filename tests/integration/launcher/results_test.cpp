// What programs get to read: --report and --events, at every kind of end.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <boost/json/parse.hpp>
#include <filesystem>
#include <fstream>

#include "rendezvous/base/read_file.h"
#include "tests/integration/support/json_schema.h"
#include "tests/integration/support/run.h"

namespace ddprun::test {
namespace {

namespace json = boost::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

json::value checked(const std::string& text) {
  boost::system::error_code error;
  json::value report = json::parse(text, error);
  EXPECT_FALSE(error) << text;
  if (error) return json::object{};
  const json::value schema = json::parse(read_file(DDPRUN_REPORT_SCHEMA).value());
  EXPECT_THAT(schema_faults(report, schema), IsEmpty()) << text;
  return report;
}

// Runs ddprun with --report and returns the report.
json::value report_of(std::vector<std::string> words, RunOptions options = {}) {
  const TemporaryFolder folder;
  words.insert(words.begin(), {"--report", folder / "report.json"});
  const Finished end = ddprun(words, options);
  json::value report = checked(read_file(folder / "report.json").value_or("no report"));
  EXPECT_EQ(report.at("exit_code"), end.signal != 0 ? 128 + end.signal : end.code) << end.err;
  return report;
}

TEST(ReportTest, Success) {
  const json::value report = report_of({"-n", "2", "true"});
  EXPECT_EQ(report.at("cause"), "success");
  EXPECT_EQ(report.at("ranks").as_array().size(), 2U);
  EXPECT_EQ(report.at("ranks").at(1).at("class"), "exited_zero");
  EXPECT_GT(report.at("timings").at("last_worker_started").as_double(), 0);
}

TEST(ReportTest, AnExitCodeWithTheLastWordsAndTheVictim) {
  const json::value report =
      report_of({"-n", "2", "sh", "-c",
                 "[ $RANK = 0 ] && exec sleep 100; printf 'bad \\377 byte\\n' >&2; exit 7"});
  EXPECT_EQ(report.at("cause"), "worker_failed");
  EXPECT_EQ(report.at("root_cause").at("rank"), 1);
  EXPECT_EQ(report.at("root_cause").at("last_stderr"), json::value({"bad \\xff byte"}));
  EXPECT_EQ(report.at("ranks").at(1).at("code"), 7);
  EXPECT_EQ(report.at("ranks").at(0).at("class"), "stopped");
  EXPECT_EQ(report.at("ranks").at(0).at("signal"), "SIGTERM");
}

TEST(ReportTest, ASignalAndWhereTheCoreIs) {
  const TemporaryFolder folder;
  const Finished end = run({"/bin/sh", "-c",
                            "ulimit -c unlimited; cd " + folder.path() + "; exec " +
                                ddprun_words({}).front() + " --report r sh -c 'kill -ABRT $$'"});
  EXPECT_EQ(end.code, 128 + SIGABRT);
  const json::value report = checked(read_file(folder / "r").value_or(""));
  EXPECT_EQ(report.at("ranks").at(0).at("signal"), "SIGABRT");
  if (report.at("ranks").at(0).at("core_dumped") == true) {
    EXPECT_THAT(report.at("root_cause").at("core").as_string().c_str(), HasSubstr("core: "));
    EXPECT_THAT(end.err, HasSubstr("\n  core: "));
  }
}

TEST(ReportTest, AStopSignal) {
  const TemporaryFolder folder;
  Program program(
      ddprun_words({"--report", folder / "r", "-n", "2", "sh", "-c", "echo up; exec sleep 100"}));
  ASSERT_TRUE(program.wait_for_output("up\n"));
  ::kill(program.pid(), SIGTERM);
  EXPECT_EQ(program.finish().signal, SIGTERM);
  const json::value report = checked(read_file(folder / "r").value_or(""));
  EXPECT_EQ(report.at("cause"), "stop_signal");
  EXPECT_EQ(report.at("exit_signal"), "SIGTERM");
  EXPECT_EQ(report.at("exit_code"), 143);
}

TEST(ReportTest, WhenNothingWasStarted) {
  EXPECT_EQ(report_of({"--simulate-gpus", "1", "-n", "2", "true"}).at("cause"), "refused");
  const json::value missing = report_of({"./no-such-program"});
  EXPECT_EQ(missing.at("cause"), "exec_failed");
  EXPECT_EQ(missing.at("exit_code"), 127);
  EXPECT_THAT(missing.at("message").as_string().c_str(), HasSubstr("no-such-program"));
}

TEST(ReportTest, WhatWasLeftBehind) {
  const json::value report = report_of({"sh", "-c", "setsid sleep 321 >/dev/null 2>&1 & exit 0"});
  EXPECT_EQ(report.at("cause"), "success");
  ASSERT_EQ(report.at("leftovers").as_array().size(), 1U);
  EXPECT_THAT(report.at("leftovers").at(0).at("command").as_string().c_str(),
              HasSubstr("sleep 321"));
}

TEST(ReportTest, OnStdoutBehindWhatTheWorkersWrote) {
  const Finished end = ddprun({"--report", "-", "-n", "1", "echo", "hello"});
  ASSERT_TRUE(end.out.starts_with("hello\n{")) << end.out;
  EXPECT_EQ(checked(end.out.substr(6)).at("cause"), "success");
}

TEST(ReportTest, AFileThatCannotBeWrittenStartsNothing) {
  const TemporaryFolder folder;
  const Finished end = ddprun({"--report", folder / "no/such/r", "touch", folder / "started"});
  EXPECT_EQ(end.code, 2);
  EXPECT_EQ(lines(end.err).size(), 1U) << end.err;
  EXPECT_THAT(end.err, HasSubstr("--report: cannot write '"));
  EXPECT_FALSE(std::filesystem::exists(folder / "started"));
}

TEST(ReportTest, OfManyWorkersIsQuick) {
  const TemporaryFolder folder;
  const auto took = [&](std::vector<std::string> words) {
    return ddprun(std::move(words)).took.count();
  };
  const auto without = took({"-q", "-n", "256", "true"});
  const auto with = took({"-q", "--report", folder / "r", "-n", "256", "true"});
  EXPECT_LT(with, 3 * without + 1000);
  EXPECT_EQ(checked(read_file(folder / "r").value_or("")).at("ranks").as_array().size(), 256U);
}

// eu-stack is a script here: what it prints is in the file, and it runs before rank 0 is stopped.
TEST(StacksTest, OfTheOthersAreTakenWhenARankAborts) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "bin");
  std::ofstream(folder / "bin/eu-stack") << "#!/bin/sh\necho \"#0  here in $2\"\n";
  std::filesystem::permissions(folder / "bin/eu-stack", std::filesystem::perms::owner_all);
  const std::string script = "cd " + folder.path() +
                             "; [ $RANK = 1 ] || { : > up; exec sleep 100; }"
                             "; while [ ! -e up ]; do sleep 0.01; done; kill -ABRT $$";
  std::vector<std::string> words =
      ddprun_words({"--report", folder / "r", "-n", "2", "sh", "-c", script});
  words.insert(words.begin(), {"/usr/bin/env", "PATH=" + folder / "bin" + ":/usr/bin:/bin",
                               "TMPDIR=" + folder.path()});
  const Finished end = run(words);
  EXPECT_EQ(end.code, 134);
  EXPECT_THAT(end.err, HasSubstr("\n  stacks of rank 0: "));
  const json::value report = checked(read_file(folder / "r").value_or(""));
  EXPECT_EQ(report.at("ranks").at(1).at("stacks"), nullptr);
  const json::value& rank = report.at("ranks").at(0);
  ASSERT_TRUE(rank.at("stacks").is_string());
  const std::string text = read_file(rank.at("stacks").as_string().c_str()).value_or("");
  EXPECT_THAT(text, HasSubstr("rank 0, pid " + std::to_string(rank.at("pid").as_int64())));
  EXPECT_THAT(text, HasSubstr("\n#0  here in " + std::to_string(rank.at("pid").as_int64())));
  EXPECT_EQ(rank.at("class"), "stopped");
}

TEST(OutOfMemoryTest, IsSaidOnlyWhenTheCounterRose) {
  const TemporaryFolder folder;
  std::ofstream(folder / "memory.events") << "oom 0\noom_kill 4\n";
  std::ofstream(folder / "memory.max") << "2147483648\n";
  const RunOptions options{.environment = {"DDPRUN_CGROUP_ROOT=" + folder.path()}};
  const Finished by_hand = ddprun({"sh", "-c", "kill -9 $$"}, options);
  EXPECT_THAT(by_hand.err, HasSubstr("SIGKILL (killed, sender unknown)"));
  const Finished by_kernel = ddprun(
      {"sh", "-c", "echo 'oom_kill 5' > " + folder / "memory.events" + "; kill -9 $$"}, options);
  EXPECT_EQ(by_kernel.code, 137);
  EXPECT_THAT(by_kernel.err,
              HasSubstr("SIGKILL (killed by the kernel: out of memory, cgroup limit 2 GiB)"));
}

std::vector<std::string> events_in(const std::string& text) {
  std::vector<std::string> names;
  for (const std::string& line : lines(text)) {
    const json::value event = json::parse(line);
    EXPECT_TRUE(event.as_object().contains("time"));
    names.emplace_back(event.at("event").as_string().c_str());
  }
  return names;
}

TEST(EventsTest, AFailureFromItsStartToItsEnd) {
  const TemporaryFolder folder;
  ddprun({"--events", folder / "e", "-n", "2", "sh", "-c", "[ $RANK = 1 ] && exit 3; sleep 100"});
  EXPECT_THAT(events_in(read_file(folder / "e").value_or("")),
              ElementsAre("job_started", "worker_started", "worker_started", "worker_ended",
                          "first_failure", "stopping", "worker_ended", "job_ended"));
}

TEST(EventsTest, OnStdoutInWholeLines) {
  const Finished end = ddprun({"--events", "-", "-n", "2", "true"});
  EXPECT_THAT(events_in(end.out), testing::Contains("job_ended"));
}

TEST(EventsTest, APipeThatNobodyReadsDelaysNothing) {
  const TemporaryFolder folder;
  folder.make_fifo("pipe");
  const Finished end =
      ddprun({"--events", folder / "pipe", "-n", "200", "true", std::string(30000, 'x')});
  EXPECT_EQ(end.code, 0);
  EXPECT_FALSE(end.timed_out);
  EXPECT_THAT(end.err, HasSubstr("events were dropped"));
}

TEST(EventsTest, AFileThatCannotBeWrittenStartsNothing) {
  const Finished end = ddprun({"--events", "/no/such/e", "true"});
  EXPECT_EQ(end.code, 2);
  EXPECT_THAT(end.err, HasSubstr("--events: cannot write '/no/such/e': no such file"));
}

TEST(NestedTest, TheErrorFileGoesUpWithItsCode) {
  const TemporaryFolder folder;
  const RunOptions options{.environment = {"TORCHELASTIC_ERROR_FILE=" + folder / "up.json"}};
  ddprun({"sh", "-c",
          R"(printf '{"message":{"message":"boom"}}' > "$TORCHELASTIC_ERROR_FILE"; exit 5)"},
         options);
  EXPECT_EQ(read_file(folder / "up.json"), R"({"message":{"message":"boom","errorCode":5}})");
}

}  // namespace
}  // namespace ddprun::test
