// A program is asked, and what it says comes back within its time.
#include "launcher/agent/asked_tool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <fstream>
#include <optional>

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
  EXPECT_FALSE(read_file("/proc/" + pid.substr(0, pid.find('\n')) + "/cmdline"));
}

TEST(AskedToolTest, WhatIsTooMuchIsDropped) {
  const auto answer = answer_of({"sh", "-c", "head -c 1000000 /dev/zero | tr '\\0' x"});
  ASSERT_TRUE(answer) << answer.error().text;
  EXPECT_EQ(*answer, std::string(65'536, 'x'));
}

TEST(AskedToolTest, OneThatNeverEndsItsAnswerIsKilled) {
  EXPECT_EQ(failure_of({"yes"}, milliseconds(500)).kind, Kind::no_answer);
}

TEST(AskedToolTest, WhoeverItLeavesBehindIsNotWaitedFor) {
  const auto began = std::chrono::steady_clock::now();
  const auto answer = answer_of({"sh", "-c", "setsid sleep 5 & echo here"});
  ASSERT_TRUE(answer) << answer.error().text;
  EXPECT_EQ(*answer, "here\n");
  EXPECT_LT(std::chrono::steady_clock::now() - began, seconds(4));
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
