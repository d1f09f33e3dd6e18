// The first failure decides: its rank is named, its code is ddprun's, everything else is stopped.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>

#include <fstream>

#include "tests/integration/support/run.h"

namespace ddprun::test {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(FailureTest, AllZeroIsZero) {
  const Finished end = ddprun({"-n", "3", "/bin/true"});
  EXPECT_EQ(end.code, 0) << end.err;
  EXPECT_EQ(end.out, "");
  EXPECT_THAT(end.err, Not(HasSubstr("failed")));
}

TEST(FailureTest, TheWorkersCodeIsOurs) {
  const Finished end = ddprun({"-n", "2", "sh", "-c", "[ $RANK = 1 ] && exit 7; sleep 100"});
  EXPECT_EQ(end.code, 7);
  EXPECT_THAT(end.err, HasSubstr("rank 1 failed first: exit code 7"));
  EXPECT_LT(end.took.count(), 10'000) << "the sleeping worker was waited for";
}

TEST(FailureTest, ASignalIs128PlusItsNumberAndIsNamed) {
  const Finished end = ddprun({"sh", "-c", "kill -SEGV $$"});
  EXPECT_EQ(end.code, 128 + SIGSEGV);
  EXPECT_THAT(end.err, HasSubstr("SIGSEGV"));
}

// The others fail 5 ms after the end of rank 2, which they see as the end of a pipe; a launcher
// that looks at the ranks in their order would blame rank 0.
TEST(FailureTest, TheRankThatFailedFirstIsTheCause) {
  for (int round = 0; round < 5; ++round) {
    const TemporaryFolder folder;
    folder.make_fifo("pipe");
    const std::string script =
        "cd " + folder.path() +
        "; if [ $RANK = 2 ]; then exec 3> pipe"
        "; while [ $(ls ready.* | wc -l) -lt 3 ]; do sleep 0.01; done; exit 42; fi"
        "; : > ready.$RANK; read line < pipe; sleep 0.005; exit 1";
    const Finished end = ddprun({"-n", "4", "sh", "-c", script});
    ASSERT_EQ(end.code, 42) << end.err;
    EXPECT_THAT(end.err, HasSubstr("rank 2 failed first: exit code 42"));
  }
}

TEST(FailureTest, TheReportShowsWhatTheFailedRankWroteLast) {
  const Finished end =
      ddprun({"-n", "2", "sh", "-c",
              "[ $RANK = 0 ] && sleep 100; echo out; echo 'lost the data set' >&2; exit 3"});
  EXPECT_EQ(end.code, 3);
  const std::size_t report = end.err.find("rank 1 failed first");
  ASSERT_NE(report, std::string::npos) << end.err;
  EXPECT_THAT(end.err.substr(report), HasSubstr("lost the data set"));
  EXPECT_THAT(end.err.substr(report), HasSubstr("rank 0 stopped by ddprun (SIGTERM)"));
}

TEST(FailureTest, TheErrorFileOfTheWorkerIsShown) {
  const Finished end = ddprun(
      {"sh", "-c",
       R"(printf '%s' '{"message":{"message":"ValueError: bad batch","extraInfo":{"py_callstack":"","timestamp":"1"}}}' > "$TORCHELASTIC_ERROR_FILE"; exit 1)"});
  EXPECT_EQ(end.code, 1);
  EXPECT_THAT(end.err, HasSubstr("ValueError: bad batch"));
}

TEST(FailureTest, AMalformedErrorFileDoesNotHideTheFailure) {
  const Finished end = ddprun({"sh", "-c", "printf '{bad' > \"$TORCHELASTIC_ERROR_FILE\"; exit 9"});
  EXPECT_EQ(end.code, 9);
  EXPECT_THAT(end.err, HasSubstr("rank 0 failed first: exit code 9"));
}

TEST(FailureTest, AProgramThatIsNotThereIs127AndOneLine) {
  for (const char* program : {"./no-such-program", "no-such-program", "no-such-script.py"}) {
    const Finished end = ddprun({"-q", "-n", "4", program});
    EXPECT_EQ(end.code, 127);
    EXPECT_EQ(lines(end.err).size(), 1U) << end.err;
    EXPECT_THAT(end.err, HasSubstr(program));
  }
}

TEST(FailureTest, AProgramThatCannotBeExecutedIs126AndSaysWhy) {
  const TemporaryFolder folder;
  std::ofstream(folder / "no-interpreter") << "#!/no/such/interpreter\n";
  std::ofstream(folder / "text") << "just text\n";
  for (const char* name : {"no-interpreter", "text"}) ::chmod((folder / name).c_str(), 0755);
  std::ofstream(folder / "plain") << "#!/bin/sh\n";
  ::chmod((folder / "plain").c_str(), 0644);
  const auto expect = [&](const std::string& program, const std::string& text) {
    const Finished end = ddprun({"-q", "-n", "2", program});
    EXPECT_EQ(end.code, 126) << end.err;
    EXPECT_EQ(lines(end.err).size(), 1U) << end.err;
    EXPECT_THAT(end.err, HasSubstr(text));
  };
  expect(folder / "no-interpreter", "/no/such/interpreter");
  expect(folder / "text", "#!");
  expect(folder / "plain", "ermission");
  expect(folder.path(), "directory");
}

TEST(FailureTest, TooFewDescriptorsIsOneLineWithAdvice) {
  std::string words;
  for (const std::string& word : ddprun_words({"-q", "-n", "20", "sleep", "100"}))
    words += " " + word;
  const Finished end = run({"/bin/sh", "-c", "ulimit -n 30; exec" + words});
  EXPECT_EQ(end.code, 125) << end.err;
  EXPECT_EQ(lines(end.err).size(), 1U) << end.err;
  EXPECT_THAT(end.err, HasSubstr("ulimit"));
}

TEST(FailureTest, NothingIsLeftInTheTemporaryFolder) {
  const TemporaryFolder folder;
  const RunOptions options{.environment = {"TMPDIR=" + folder.path()}};
  EXPECT_EQ(ddprun({"-n", "2", "sh", "-c", "echo x > \"$TORCHELASTIC_ERROR_FILE\""}, options).code,
            0);
  EXPECT_EQ(ddprun({"-n", "2", "false"}, options).code, 1);
  EXPECT_EQ(run({"/bin/sh", "-c", "find " + folder.path() + " -mindepth 2"}).out, "");
}

}  // namespace
}  // namespace ddprun::test
