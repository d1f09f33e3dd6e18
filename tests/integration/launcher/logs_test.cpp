// Log files: where they are, what is in them, and what becomes of the job when they fail.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <optional>

#include "launcher/process/children.h"
#include "rendezvous/base/read_file.h"
#include "tests/integration/support/run.h"

namespace ddprun::test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::UnorderedElementsAre;

const std::string kWorker = DDPRUN_TEST_WORKER;

long peak_memory_kib(pid_t pid) {
  const std::string text = read_file("/proc/" + std::to_string(pid) + "/status").value_or("");
  const std::size_t at = text.find("VmHWM:");
  return at == std::string::npos ? -1 : std::stol(text.substr(at + 6));
}

class LogsTest : public testing::Test {
 protected:
  // ddprun with --log-dir and a fixed run id; the worker is a shell script.
  Finished job(std::vector<std::string> options, const std::string& script) {
    options.insert(options.end(), {"--log-dir", logs_, "--rdzv-id", "job", "sh", "-c", script});
    return ddprun(std::move(options));
  }
  // Paths of all plain files below the only run directory, from there on.
  std::vector<std::string> files() const {
    std::vector<std::string> found;
    for (const auto& entry : fs::recursive_directory_iterator(run()))
      if (entry.is_regular_file()) found.push_back(fs::relative(entry.path(), run()));
    return found;
  }
  std::string run() const { return fs::canonical(logs_ + "/latest"); }
  std::string file(const std::string& name) const {
    return read_file(run() + "/" + name).value_or("(missing)");
  }

  TemporaryFolder folder_;
  std::string logs_ = folder_ / "logs";
};

TEST_F(LogsTest, RedirectedStreamsGoToTheTreeOfTorchrunAndThePathIsSaid) {
  const Finished end = job({"-n", "2", "-r", "3"}, "echo out $RANK; printf err >&2");
  EXPECT_EQ(end.code, 0);
  EXPECT_EQ(end.out, "");
  EXPECT_THAT(end.err, HasSubstr("ddprun: logs are in " + run() + "\n"));
  EXPECT_THAT(fs::path(run()).filename(), testing::Truly([](const fs::path& name) {
                return testing::Matches(testing::MatchesRegex("job_[a-z0-9]+"))(name.string());
              }));
  EXPECT_THAT(files(), UnorderedElementsAre("attempt_0/0/stdout.log", "attempt_0/0/stderr.log",
                                            "attempt_0/1/stdout.log", "attempt_0/1/stderr.log"));
  EXPECT_EQ(file("attempt_0/1/stdout.log"), "out 1\n");
  EXPECT_EQ(file("attempt_0/1/stderr.log"), "err");
}

TEST_F(LogsTest, LatestIsARelativeLinkToTheLastRun) {
  job({"-r", "1"}, "echo first");
  const std::string first = run();
  job({"-r", "1"}, "echo second");
  EXPECT_NE(run(), first);
  EXPECT_EQ(file("attempt_0/0/stdout.log"), "second\n");
  EXPECT_TRUE(fs::read_symlink(logs_ + "/latest").is_relative());
}

TEST_F(LogsTest, WhatNobodyAskedForGoesAfterSuccess) {
  const Finished end = job({"-n", "2"}, "echo x > $TORCHELASTIC_ERROR_FILE");
  EXPECT_EQ(end.code, 0);
  EXPECT_TRUE(fs::is_empty(logs_));
  EXPECT_THAT(end.err, Not(HasSubstr("logs are in")));
}

TEST_F(LogsTest, AFailureThatLeavesAnErrorFileStaysAndIsTheLatest) {
  const Finished end = job({"-n", "1"}, "echo '{}' > $TORCHELASTIC_ERROR_FILE; exit 5");
  EXPECT_THAT(end.err, HasSubstr("  logs: " + run() + "/attempt_0/0/\n"));
  EXPECT_THAT(files(), ElementsAre("attempt_0/0/error.json"));
}

TEST_F(LogsTest, AFailureThatLeavesStacksStaysAndIsTheLatest) {
  job({"-n", "2"}, "[ $RANK = 0 ] || kill -ABRT $$; exec sleep 9");
  EXPECT_THAT(files(), ElementsAre("attempt_0/0/stacks.txt"));
}

TEST_F(LogsTest, AfterAFailureTheReportNamesTheLogsAndShowsTheEndOfARedirectedStream) {
  const Finished end =
      job({"-n", "2", "-r", "3"}, "[ $RANK = 0 ] || { echo the cause >&2; exit 5; }; exec sleep 9");
  EXPECT_EQ(end.code, 5);
  EXPECT_THAT(end.err, AllOf(HasSubstr("    | the cause\n"),
                             HasSubstr("  logs: " + run() + "/attempt_0/1/\n")));
}

TEST_F(LogsTest, ARelativeLogDirIsThatOfTheUserWhateverWorkersDo) {
  std::string words;
  for (const std::string& word : ddprun_words({"-q", "-r", "1", "--log-dir", "logs", "sh", "-c"}))
    words += word + " ";
  const Finished end =
      run_shell("cd " + folder_.path() + " && " + words + "'cd /; echo $TORCHELASTIC_ERROR_FILE'");
  EXPECT_EQ(end.code, 0) << end.err;
  EXPECT_EQ(file("attempt_0/0/stdout.log"), run() + "/attempt_0/0/error.json\n");
}

TEST_F(LogsTest, WithDevNullThereAreNoFilesAndTheVariableIsEmpty) {
  const Finished end = ddprun({"-r", "1", "--log-dir", "/dev/null", "sh", "-c",
                               "echo not shown; echo \"[$TORCHELASTIC_ERROR_FILE]\" >&2; exit 3"},
                              {.environment = {"TMPDIR=" + folder_.path()}});
  EXPECT_EQ(end.code, 3);
  EXPECT_EQ(end.out, "");
  EXPECT_THAT(end.err, AllOf(HasSubstr("[]\n"), HasSubstr("    | not shown\n")));
  EXPECT_TRUE(fs::is_empty(folder_.path()));
}

TEST_F(LogsTest, TeeWritesExactBytesAndShowsPrefixedLines) {
  const Finished end = job({"-n", "2", "-t", "1"}, R"(printf "$RANK\377\r\nend")");
  EXPECT_EQ(file("attempt_0/1/stdout.log"), "1\xff\r\nend");
  EXPECT_THAT(lines(end.out),
              UnorderedElementsAre("[0] 0\xff\r", "[0] end", "[1] 1\xff\r", "[1] end"));
  EXPECT_EQ(files().size(), 2U);
}

TEST_F(LogsTest, HalfALineIsNotGluedToAnotherRanks) {
  const std::string fifo = folder_.make_fifo("turn");
  const Finished end =
      job({"-n", "2", "-t", "1"}, "if [ $RANK = 0 ]; then printf A; cat " + fifo +
                                      "; echo 0; else echo B > " + fifo + "; echo B1; fi");
  EXPECT_THAT(lines(end.out), UnorderedElementsAre("[0] AB", "[0] 0", "[1] B1"));
}

TEST_F(LogsTest, MapsReachAnyRankAndTheRest) {
  const Finished end =
      job({"-n", "12", "-r", "10-11:1,3:2,*:0", "-t", "0:1"}, "echo out; echo err >&2");
  EXPECT_EQ(end.code, 0) << end.err;
  EXPECT_THAT(files(), UnorderedElementsAre("attempt_0/0/stdout.log", "attempt_0/3/stderr.log",
                                            "attempt_0/10/stdout.log", "attempt_0/11/stdout.log"));
  EXPECT_EQ(lines(end.out).size(), 10U);
}

TEST_F(LogsTest, ARankThatIsNotShownHasItsFileAndIsInTheReport) {
  const Finished end = job({"-n", "3", "-t", "3", "--local-ranks-filter", "0"},
                           "echo out $RANK; [ $RANK != 2 ] || { echo why >&2; exit 4; }; exec "
                           "sleep 9");
  EXPECT_EQ(end.code, 4);
  EXPECT_THAT(end.out, Not(HasSubstr("out 2")));
  EXPECT_EQ(file("attempt_0/2/stdout.log"), "out 2\n");
  EXPECT_THAT(end.err, AllOf(HasSubstr("    | why\n"), Not(HasSubstr("[2] why"))));
}

TEST_F(LogsTest, WithoutFilesARankThatIsNotShownIsInTheReportToo) {
  const Finished end = ddprun({"-n", "2", "--local-ranks-filter", "0", "sh", "-c",
                               "[ $RANK = 0 ] || { echo the cause; exit 3; }; exec sleep 9"});
  EXPECT_EQ(end.code, 3);
  EXPECT_EQ(end.out, "");
  EXPECT_THAT(end.err, HasSubstr("    | the cause\n"));
}

TEST_F(LogsTest, FiltersCopyMatchingLinesOfTeedStreams) {
  job({"-n", "2", "-t", "1", "--duplicate-stdout-filters", "loss,NaN"},
      "echo loss $RANK; echo other; [ $RANK = 0 ] || printf 'a NaN'");
  EXPECT_THAT(lines(file("attempt_0/filtered_stdout.log")),
              UnorderedElementsAre("[0] loss 0", "[1] loss 1", "[1] a NaN"));
}

TEST_F(LogsTest, ALogDirMayBelongToEverybody) {
  fs::create_directory(logs_);
  ::chmod(logs_.c_str(), 01777);
  EXPECT_EQ(job({"-r", "1"}, "echo x").code, 0);
  struct stat info {};
  ASSERT_EQ(::stat(run().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700U);
}

TEST_F(LogsTest, ALogDirThatCannotBeIsRefusedBeforeAnythingStarts) {
  const Finished end = ddprun({"--log-dir", "/proc/no", "echo", "started"});
  EXPECT_EQ(end.code, 2);
  EXPECT_EQ(end.out, "");
  EXPECT_THAT(end.err, AllOf(HasSubstr("/proc/no"), HasSubstr("--log-dir")));
  EXPECT_EQ(lines(end.err).size(), 1U);
}

TEST_F(LogsTest, AFileThatMayNotGrowIsSaidOnceAndTheJobGoesOn) {
  std::string words;
  for (const std::string& word : ddprun_words({"-q", "-n", "2", "-t", "1", "--log-dir", logs_}))
    words += word + " ";
  const Finished end = run_shell("ulimit -f 8; " + words + "seq 20000");
  EXPECT_EQ(end.code, 0);
  EXPECT_EQ(lines(end.out).size(), 40000U);
  EXPECT_EQ(lines(end.err).size(), 1U) << end.err;
  EXPECT_THAT(end.err,
              AllOf(HasSubstr("stdout.log': File too large"), HasSubstr("the job goes on")));
}

TEST_F(LogsTest, LogsThatAWorkerRemovesAreSaidAndTheJobGoesOn) {
  const Finished end = job({"-q", "-t", "1"}, "rm -r " + logs_ + "/latest/*; echo still here");
  EXPECT_EQ(end.code, 0);
  EXPECT_EQ(end.out, "[0] still here\n");
  EXPECT_THAT(end.err, AllOf(HasSubstr("stdout.log' was removed while the job ran")));
}

TEST_F(LogsTest, FilesGoOnWhileNobodyReadsTheConsole) {
  const std::string fifo = folder_.make_fifo("done");
  Program program(ddprun_words({"-q", "-n", "2", "-t", "1", "--log-dir", logs_, "sh", "-c",
                                "seq 1000000; [ $RANK = 1 ] || echo > " + fifo}),
                  {.limit = std::chrono::seconds(50)});
  EXPECT_TRUE(read_file(fifo)) << "opening waits for the writer, who has written everything";
  const auto launcher = process::children_of(program.pid());
  ASSERT_EQ(launcher.size(), 1U);
  EXPECT_LT(peak_memory_kib(launcher.front()), 20'000);
  const Finished end = program.finish();
  EXPECT_EQ(end.code, 0) << end.err;
  EXPECT_EQ(lines(end.out).size(), 2'000'000U);
  EXPECT_EQ(file("attempt_0/0/stdout.log").size(), 6'888'896U);
}

TEST_F(LogsTest, ALineOfManyMegabytesIsWholeInTheFile) {
  job({"-t", "1"}, "head -c 3000000 /dev/zero | tr '\\0' x");
  EXPECT_EQ(file("attempt_0/0/stdout.log"), std::string(3'000'000, 'x'));
}

}  // namespace
}  // namespace ddprun::test
