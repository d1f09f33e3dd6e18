// Lines reach us whole, whatever the workers do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "tests/integration/support/run.h"

namespace ddprun::test {
namespace {

const std::string kWorker = DDPRUN_TEST_WORKER;

TEST(OutputTest, LinesOf16RanksThatWriteSingleBytesAreNeverMixed) {
  const Finished end = ddprun({"-n", "16", kWorker, "bytes", "60"});
  ASSERT_EQ(end.code, 0) << end.err;
  std::map<std::string, int> next;
  for (const std::string& line : lines(end.out)) {
    const std::string rank = line.substr(0, line.find(" line"));
    ASSERT_EQ(line, rank + " line " + std::to_string(next[rank]) + std::string(40, '.'));
    ++next[rank];
  }
  EXPECT_EQ(next.size(), 16U);
  for (const auto& [rank, count] : next) EXPECT_EQ(count, 60) << rank;
}

TEST(OutputTest, IntoAPipeLinesCarryNoPrefixAndTheLastOneIsCompleted) {
  EXPECT_EQ(ddprun({"-n", "2", "sh", "-c", "[ $RANK = 1 ] || printf '{\"a\":1}'"}).out,
            "{\"a\":1}\n");
}

TEST(OutputTest, BytesThatAreNoTextPassUnchanged) {
  EXPECT_EQ(ddprun({"-n", "2", "sh", "-c", R"([ $RANK = 0 ] || printf '\377\200\001\n')"}).out,
            "\xff\x80\x01\n");
}

TEST(OutputTest, StandardErrorStaysApart) {
  const Finished end = ddprun({"-q", "sh", "-c", "echo out; echo err >&2"});
  EXPECT_EQ(end.out, "out\n");
  EXPECT_EQ(end.err, "err\n");
}

TEST(OutputTest, EverythingIsThereAlsoWhenAWorkerWritesALotAndDies) {
  const Finished end =
      ddprun({"sh", "-c", "i=0; while [ $i -lt 20000 ]; do echo $i; i=$((i+1)); done; exit 1"});
  EXPECT_EQ(end.code, 1);
  EXPECT_EQ(lines(end.out).size(), 20000U);
}

TEST(OutputTest, AReaderThatGoesAwayDoesNotEndTheJob) {
  std::string words;
  for (const std::string& word : ddprun_words({"-q", "-n", "2", "sh", "-c"})) words += " " + word;
  const Finished end = run({"/bin/bash", "-c",
                            words + " 'i=0; while [ $i -lt 5000 ]; do echo line; i=$((i+1)); done; "
                                    "exit 6' | head -1; echo ${PIPESTATUS[0]}"});
  EXPECT_EQ(end.out, "line\n6\n");
}

TEST(OutputTest, OnATerminalWorkersHaveATerminalAndPrefixes) {
  std::string words;
  for (const std::string& word : ddprun_words({"-q", "-n", "2", "sh", "-c"})) words += word + " ";
  const Finished end =
      run({"/usr/bin/script", "-qec", words + "'[ -t 1 ] && echo tty $RANK'", "/dev/null"},
          {.environment = {"NO_COLOR=1", "TERM=xterm"}});
  EXPECT_THAT(end.out, testing::HasSubstr("[0] tty 0"));
  EXPECT_THAT(end.out, testing::HasSubstr("[1] tty 1"));
}

TEST(OutputTest, ATerminalThatStopsBackgroundWritersDoesNotStopUs) {
  for (const char* what : {"--version", "--help", "--no-such-option"}) {
    const Finished end =
        run({"/usr/bin/script", "-qec", "stty tostop; " + ddprun_words({what}).front() + " " + what,
             "/dev/null"});
    EXPECT_FALSE(end.timed_out) << what;
    EXPECT_THAT(end.out, testing::HasSubstr("ddprun"));
  }
}

}  // namespace
}  // namespace ddprun::test
