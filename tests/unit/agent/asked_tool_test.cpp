// A program is asked, and what it says comes back within its time.
#include "launcher/agent/asked_tool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <thread>

#include "rendezvous/base/first_line.h"
#include "rendezvous/base/read_file.h"
#include "tests/support/temporary_folder.h"

namespace ddprun::agent {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const cli::Environment kEnvironment{std::vector<std::string>{"PATH=/usr/bin:/bin", "WORD=here"}};

using Kind = ToolFailure::Kind;

ToolAnswer answer_of(const std::vector<std::string>& words, milliseconds limit = seconds(20)) {
  boost::asio::io_context io;
  std::optional<ToolAnswer> answer;
  const AskedTool tool(io, words, kEnvironment, limit, [&](auto said) { answer = said; });
  EXPECT_FALSE(answer) << "only from the event loop";
  io.run();
  return answer.value_or(ToolFailure{.kind = Kind::no_answer, .text = "done was not called"});
}

ToolFailure failure_of(const std::vector<std::string>& words, milliseconds limit = seconds(20)) {
  const auto answer = answer_of(words, limit);
  EXPECT_FALSE(answer);
  return answer ? ToolFailure{} : answer.error();
}

// 0 where there is none.
pid_t pid_in(const std::string& file) {
  return std::atoi(read_file(file).value_or("0").c_str());
}

// Whether the process whose pid is in `file` is a zombie, which nobody has asked for, in time.
bool comes_to_its_end(const std::string& file) {
  const auto until = std::chrono::steady_clock::now() + seconds(20);
  while (std::chrono::steady_clock::now() < until) {
    const std::string stat =
        read_file("/proc/" + std::to_string(pid_in(file)) + "/stat").value_or("");
    if (stat.find(") Z ") != std::string::npos) return true;
    std::this_thread::sleep_for(milliseconds(5));
  }
  return false;
}

TEST(AskedToolTest, WhatItPrintsIsTheAnswer) {
  const auto answer = answer_of({"sh", "-c", "echo $WORD; echo error >&2"});
  ASSERT_TRUE(answer) << answer.error().text;
  EXPECT_EQ(*answer, "here\nerror\n");
}

TEST(AskedToolTest, OneThatFailsIsNamedWithItsFirstLine) {
  const ToolFailure failed = failure_of({"sh", "-c", "echo first; echo second; exit 3"});
  EXPECT_EQ(failed.kind, Kind::failed);
  EXPECT_EQ(failed.text, "sh ended with 3: first");
  EXPECT_EQ(failed.output, "first\nsecond\n");
}

TEST(AskedToolTest, OneThatCannotBeStartedIsNamed) {
  const ToolFailure missing = failure_of({"no-such-tool"});
  EXPECT_EQ(missing.kind, Kind::not_there);
  EXPECT_EQ(missing.text, "no-such-tool is not there: No such file or directory");
  const test::TemporaryFolder folder;
  const std::string program = folder / "program";
  std::ofstream(program) << "#!/no/such/interpreter\n";
  ASSERT_EQ(::chmod(program.c_str(), 0700), 0);
  const ToolFailure unable = failure_of({program});
  EXPECT_EQ(unable.kind, Kind::cannot_start);
  EXPECT_EQ(unable.text, program + " cannot be started: No such file or directory");
}

TEST(AskedToolTest, OneThatHangsIsKilledInTime) {
  const test::TemporaryFolder folder;
  const ToolFailure late = failure_of(
      {"sh", "-c", "echo $$ >" + (folder / "pid") + "; exec sleep 60"}, milliseconds(2500));
  EXPECT_EQ(late.kind, Kind::no_answer);
  EXPECT_EQ(late.text, "sh gave no answer within 2.5 s");
  const std::string pid = read_file(folder / "pid").value_or("");
  EXPECT_FALSE(pid.empty());
  EXPECT_FALSE(read_file("/proc/" + first_line(pid) + "/cmdline"));
}

TEST(AskedToolTest, WhatIsTooMuchIsDropped) {
  const auto answer = answer_of({"sh", "-c", "head -c 1000000 /dev/zero | tr '\\0' x"});
  ASSERT_TRUE(answer) << answer.error().text;
  EXPECT_EQ(*answer, std::string(65'536, 'x'));
}

TEST(AskedToolTest, OneThatNeverEndsItsAnswerIsKilled) {
  EXPECT_EQ(failure_of({"yes"}, milliseconds(500)).kind, Kind::no_answer);
}

// What it leaves behind is there for longer than the tool's own limit.
TEST(AskedToolTest, WhoeverItLeavesBehindIsNotWaitedFor) {
  const test::TemporaryFolder folder;
  const std::string file = folder / "pid";
  const auto answer =
      answer_of({"sh", "-c", "setsid sleep 60 & echo $! >" + file + "; echo here"}, seconds(20));
  const pid_t left = pid_in(file);
  ASSERT_GT(left, 0);
  EXPECT_EQ(::kill(left, SIGKILL), 0) << "it is there still";
  ASSERT_TRUE(answer) << answer.error().text;
  EXPECT_EQ(*answer, "here\n");
}

// All of it, and the end, are there when the event loop looks first.
TEST(AskedToolTest, WhatItSaidBeforeItsEndIsWholeAndInOrder) {
  const test::TemporaryFolder folder;
  const std::string file = folder / "pid";
  boost::asio::io_context io;
  std::optional<ToolAnswer> answer;
  const AskedTool tool(io, {"sh", "-c", "echo $$ >" + file + "; exec seq 3000"}, kEnvironment,
                       seconds(60), [&](auto said) { answer = said; });
  ASSERT_TRUE(comes_to_its_end(file));
  io.run();
  ASSERT_TRUE(answer && *answer);
  std::string all;
  for (int number = 1; number <= 3000; ++number) all += std::to_string(number) + "\n";
  EXPECT_EQ(**answer, all);
}

TEST(AskedToolTest, OneThatIsForgottenSaysNothing) {
  boost::asio::io_context io;
  {
    const AskedTool tool(io, {"sleep", "60"}, kEnvironment, seconds(20), [](auto) { FAIL(); });
  }
  EXPECT_LT(io.run_for(seconds(10)), 10u);
}

}  // namespace
}  // namespace ddprun::agent
