// --dry-run and --doctor: they check, show, and start nothing.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <boost/json/parse.hpp>
#include <filesystem>
#include <fstream>

#include "rendezvous/base/read_file.h"
#include "tests/integration/support/json_schema.h"
#include "tests/integration/support/loopback_port.h"
#include "tests/integration/support/run.h"

namespace ddprun::test {
namespace {

namespace json = boost::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

json::value checked(const std::string& text) {
  json::value value = json::parse(text);
  const json::value schema = json::parse(read_file(DDPRUN_DRY_RUN_SCHEMA).value());
  EXPECT_THAT(schema_faults(value, schema), IsEmpty());
  return value;
}

TEST(DryRunTest, JsonNamesEveryRankOfASimulatedMachine) {
  const Finished end = ddprun({"--dry-run", "--report", "-", "--simulate-gpus", "8", "-n", "512",
                               "--oversubscribe", "true"},
                              {.environment = {"CUDA_VISIBLE_DEVICES=6,2"}});
  EXPECT_EQ(end.code, 0) << end.err;
  const json::value plan = checked(end.out);
  EXPECT_EQ(plan.at("world_size"), 512);
  EXPECT_EQ(plan.at("ranks").at(511).at("device"), "cuda:1");
  EXPECT_EQ(plan.at("ranks").at(511).at("gpu").at("id"), 2);
}

TEST(DryRunTest, JsonGoesToAFile) {
  const TemporaryFolder folder;
  const Finished end = ddprun(
      {"--dry-run", "--report", folder / "plan.json", "-n", "2", "touch", folder / "started"});
  EXPECT_EQ(end.code, 0) << end.err;
  EXPECT_EQ(end.out, "");
  EXPECT_EQ(checked(read_file(folder / "plan.json").value_or("")).at("world_size"), 2);
  EXPECT_FALSE(std::filesystem::exists(folder / "started"));
}

// What a dry run and a real run say of the same command line.
void expect_same_refusal(std::vector<std::string> words, const std::string& says) {
  const Finished real = ddprun(words);
  words.insert(words.begin(), "--dry-run");
  const Finished dry = ddprun(words);
  EXPECT_EQ(dry.code, 2) << dry.err;
  EXPECT_THAT(dry.err, HasSubstr(says));
  EXPECT_THAT(real.err, HasSubstr(dry.err)) << "a real run says something else";
  EXPECT_NE(real.code, 0);
}

TEST(DryRunTest, RefusesInTheWordsOfARealRun) {
  const TemporaryFolder folder;
  expect_same_refusal({"-n", "2", "./no-such-program"}, "./no-such-program");
  expect_same_refusal({"-n", "2", folder / "no_such.py"}, "no_such.py");
  expect_same_refusal({"-n", "2", "--stdin", "2", "/bin/true"}, "--stdin 2");
  expect_same_refusal({"--simulate-gpus", "1", "-n", "2", "/bin/true"}, "--oversubscribe");
  expect_same_refusal({"-n", "2", "--events", "/no/such/e", "/bin/true"}, "'/no/such/e'");
  expect_same_refusal({"-n", "2", "--events", folder.path(), "/bin/true"}, "is a directory");
  std::ofstream(folder / "file") << "no folder";
  expect_same_refusal({"-n", "2", "--log-dir", folder / "file/logs", "/bin/true"}, "file/logs");
  std::filesystem::create_symlink("nowhere", folder / "dangling");
  expect_same_refusal({"-n", "2", "--log-dir", folder / "dangling", "/bin/true"}, "dangling");
}

TEST(DryRunTest, ATakenPortIsARefusal) {
  const UniqueFd taken(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  ASSERT_EQ(::bind(taken.get(), generic, size), 0);
  ASSERT_EQ(::listen(taken.get(), 1), 0);
  ::getsockname(taken.get(), generic, &size);
  const std::string port = std::to_string(ntohs(address.sin_port));
  expect_same_refusal({"-n", "2", "--master-port", port, "/bin/true"}, port);
  const Finished end = ddprun({"--dry-run", "--report", "-", "--master-port", port, "/bin/true"});
  EXPECT_EQ(end.code, 2);
  EXPECT_THAT(std::string(checked(end.out).at("refusal").as_string()), HasSubstr(port));
}

// A file of an earlier dry run must not be taken for the answer.
TEST(DryRunTest, JsonSaysWhyThereIsNoPlan) {
  const TemporaryFolder folder;
  const Finished end = ddprun({"--dry-run", "--report", folder / "plan.json", "--simulate-gpus",
                               "2", "-n", "3", "--role", "r", "/bin/true"});
  EXPECT_EQ(end.code, 2);
  const json::value plan = checked(read_file(folder / "plan.json").value_or(""));
  EXPECT_THAT(std::string(plan.at("refusal").as_string()), HasSubstr("only 2 GPUs visible"));
  EXPECT_THAT(end.err, HasSubstr(std::string(plan.at("refusal").as_string())));
  EXPECT_EQ(plan.at("world_size"), 0);
  EXPECT_TRUE(plan.at("ranks").as_array().empty());
  EXPECT_TRUE(plan.at("environment").as_object().empty());
  EXPECT_EQ(plan.at("role"), "r");
}

TEST(DryRunTest, LeavesNoFolderBehind) {
  const TemporaryFolder folder;
  EXPECT_EQ(ddprun({"--dry-run", "--log-dir", folder / "logs/deep", "/bin/true"}).code, 0);
  EXPECT_FALSE(std::filesystem::exists(folder / "logs"));
  EXPECT_EQ(ddprun({"--dry-run", "--events", folder / "e", "/bin/true"}).code, 0);
  EXPECT_FALSE(std::filesystem::exists(folder / "e"));
  EXPECT_EQ(ddprun({"--dry-run", "/bin/true"}, {.environment = {"TMPDIR=" + folder.path()}}).code,
            0);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(DoctorTest, IsOneScreenAboutThisMachine) {
  const Finished end = ddprun({"--doctor"}, {.environment = {"SLURM_JOB_ID=4711"}});
  EXPECT_THAT(end.out, AllOf(HasSubstr("ddprun "), HasSubstr("Linux "), HasSubstr("CPUs"),
                             HasSubstr("loopback"), HasSubstr("SLURM_JOB_ID=4711")));
  EXPECT_LE(lines(end.out).size(), 40u);
  EXPECT_EQ(end.err, "");
  EXPECT_LT(end.took, std::chrono::seconds(10));
}

// A Python on a file system that hangs.
TEST(DoctorTest, WhatHangsIsLeftAloneAndNamed) {
  const TemporaryFolder folder;
  const std::string python = folder / "python3";
  std::ofstream(python) << "#!/bin/sh\nexec sleep 1000\n";
  std::filesystem::permissions(python, std::filesystem::perms::owner_all);
  const Finished end = ddprun({"--doctor"}, {.environment = {"PYTHON_EXEC=" + python}});
  EXPECT_THAT(end.out, HasSubstr("PyTorch        " + python + " does not say which one it has"));
  EXPECT_LT(end.took, std::chrono::seconds(15));
}

TEST(DoctorTest, JsonIsForPrograms) {
  const Finished end = ddprun({"--doctor", "--report", "-"});
  const json::value value = json::parse(end.out);
  EXPECT_EQ(value.at("problems").as_int64() == 0 ? 0 : 1, end.code);
  const TemporaryFolder folder;
  EXPECT_THAT(ddprun({"--doctor", "--report", folder / "r.json"}).out, HasSubstr("loopback"));
  EXPECT_NO_THROW(json::parse(read_file(folder / "r.json").value_or("")));
}

TEST(DoctorTest, APortThatTheJobNeedsMustBeFree) {
  LoopbackPort held;
  held.listen();
  const std::string port = std::to_string(held.number());
  const Finished end = ddprun({"--doctor", "--master-port", port});
  EXPECT_EQ(end.code, 1);
  EXPECT_THAT(end.out, HasSubstr("problem  ports          " + port + ": pid "));
}

TEST(DoctorTest, AProblemIsTheExitCode) {
  const Finished end = ddprun({"--doctor"}, {.environment = {"TMPDIR=/nonexistent"}});
  EXPECT_EQ(end.code, 1);
  EXPECT_THAT(end.out, HasSubstr("problem  TMPDIR         /nonexistent cannot be written to\n"));
}

}  // namespace
}  // namespace ddprun::test
