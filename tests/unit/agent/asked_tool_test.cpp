// A program is asked, and what it says comes back within its time.
#include "launcher/agent/asked_tool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "rendezvous/base/read_file.h"
#include "tests/support/temporary_folder.h"

namespace ddprun::agent {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const cli::Environment kEnvironment{std::vector<std::string>{"PATH=/usr/bin:/bin", "WORD=here"}};

Result<std::string> answer_of(const std::vector<std::string>& words,
                              milliseconds limit = seconds(20)) {
  boost::asio::io_context io;
  std::optional<Result<std::string>> answer;
  const AskedTool tool(io, words, kEnvironment, limit, [&](auto said) { answer = said; });
  EXPECT_FALSE(answer) << "only from the event loop";
  io.run();
  return answer.value_or(Error{"done was not called"});
}

std::string error_of(const std::vector<std::string>& words, milliseconds limit = seconds(20)) {
  const auto answer = answer_of(words, limit);
  return answer ? "" : answer.error().text;
}

TEST(AskedToolTest, WhatItPrintsIsTheAnswer) {
  const auto answer = answer_of({"sh", "-c", "echo $WORD; echo error >&2"});
  ASSERT_TRUE(answer) << answer.error().text;
  EXPECT_EQ(*answer, "here\nerror\n");
}

TEST(AskedToolTest, OneThatFailsIsNamedWithItsFirstLine) {
  EXPECT_EQ(error_of({"sh", "-c", "echo first; echo second; exit 3"}), "sh ended with 3: first");
  EXPECT_EQ(error_of({"no-such-tool"}), "no-such-tool is not there: No such file or directory");
}

TEST(AskedToolTest, OneThatHangsIsKilledInTime) {
  const test::TemporaryFolder folder;
  EXPECT_EQ(error_of({"sh", "-c", "echo $$ >" + (folder / "pid") + "; exec sleep 60"},
                     milliseconds(2500)),
            "sh gave no answer within 2.5 s");
  const std::string pid = read_file(folder / "pid").value_or("");
  EXPECT_FALSE(pid.empty());
  EXPECT_FALSE(read_file("/proc/" + pid.substr(0, pid.find('\n')) + "/cmdline"));
}

TEST(AskedToolTest, TooMuchIsNotTakenIn) {
  EXPECT_NE(error_of({"sh", "-c", "yes"}, seconds(2)), "");
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
