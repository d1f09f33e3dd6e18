// --wrap, --chdir, and --stdin without a terminal.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "tests/integration/support/run.h"

namespace ddprun::test {
namespace {

using testing::HasSubstr;

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(StdinTest, OneRankReadsAndTheOthersFindNothing) {
  const TemporaryFolder folder;
  std::ofstream(folder / "input") << "hi\n";
  const Finished end = ddprun({"-n", "3", "--stdin", "1", "sh", "-c", "echo $RANK: $(cat)"},
                              {.input = folder / "input"});
  EXPECT_EQ(end.code, 0) << end.err;
  EXPECT_THAT(lines(end.out), testing::UnorderedElementsAre("0:", "1: hi", "2:"));
}

TEST(StdinTest, APipeIsReadToItsEnd) {
  std::string words;
  for (const std::string& word : ddprun_words({"-n", "2", "--stdin", "1", "cat"}))
    words += " " + word;
  const Finished end = run({"/bin/sh", "-c", "echo hi |" + words});
  EXPECT_EQ(end.code, 0) << end.err;
  EXPECT_EQ(end.out, "hi\n");
}

TEST(StdinTest, ByDefaultNobodyReads) {
  const TemporaryFolder folder;
  std::ofstream(folder / "input") << "hi\n";
  const Finished end = ddprun({"-n", "2", "cat"}, {.input = folder / "input"});
  EXPECT_EQ(end.code, 0) << end.err;
  EXPECT_EQ(end.out, "");
}

TEST(StdinTest, ARankThatIsNotThereIsRefused) {
  const Finished end = ddprun({"--stdin", "2", "true"});
  EXPECT_EQ(end.code, 2);
  EXPECT_EQ(end.err, "ddprun: --stdin 2: there is no such rank, with 1 worker the last one is 0\n");
}

TEST(WrapTest, TheWrapperStandsBeforeTheProgramOfItsRanks) {
  const Finished end = ddprun({"-n", "3", "--wrap", "1:echo r%r l%l a%a 100%% %d %", "--wrap",
                               "0-1:echo second", "sh", "-c", "echo plain"});
  EXPECT_EQ(end.code, 0) << end.err;
  EXPECT_THAT(lines(end.out), testing::UnorderedElementsAre("r1 l1 a0 100% %d % sh -c echo plain",
                                                            "second sh -c echo plain", "plain"));
}

TEST(WrapTest, EachRankWritesAFileOfItsOwn) {
  const TemporaryFolder folder;
  // As `perf record -o perf.%r`: a profiler that writes to the file it is given.
  std::ofstream(folder / "profile")
      << "#!/bin/sh\necho \"$0 of $RANK\" > \"$2\"\nshift 2\nexec \"$@\"\n";
  ::chmod((folder / "profile").c_str(), 0755);
  const Finished end =
      ddprun({"-n", "2", "--wrap", "*:" + (folder / "profile") + " -o " + (folder / "out.%r"), "sh",
              "-c", "exit 0"});
  EXPECT_EQ(end.code, 0) << end.err;
  EXPECT_THAT(text_of(folder / "out.0"), HasSubstr("profile of 0"));
  EXPECT_THAT(text_of(folder / "out.1"), HasSubstr("profile of 1"));
}

TEST(WrapTest, ScriptsAndModulesRunInPythonBehindTheWrapper) {
  const TemporaryFolder folder;
  std::ofstream(folder / "train.py") << "";
  EXPECT_EQ(ddprun({"--wrap", "0:echo W", folder / "train.py", "x"}).out,
            "W python3 -u " + (folder / "train.py") + " x\n");
  EXPECT_EQ(ddprun({"--wrap", "0:echo W", "-m", "pkg", "x"}).out, "W python3 -u -m pkg x\n");
}

TEST(WrapTest, TheExitCodeOfTheWrapperIsTheWorkers) {
  const Finished end = ddprun({"-n", "2", "--wrap", "1:sh -c 'exit 9'", "true"});
  EXPECT_EQ(end.code, 9);
  EXPECT_THAT(end.err, HasSubstr("rank 1 failed first: exit code 9"));
}

TEST(WrapTest, AMissingWrapperIsNamed) {
  const Finished end = ddprun({"-n", "2", "--wrap", "1:no-such-debugger --args", "true"});
  EXPECT_EQ(end.code, 127);
  EXPECT_EQ(end.err, "ddprun: cannot start 'no-such-debugger' (from --wrap): not found in PATH\n");
}

TEST(WrapTest, TheProgramItselfIsNotLookedForBehindAWrapper) {
  EXPECT_EQ(ddprun({"--wrap", "0:echo", "no-such-program"}).out, "no-such-program\n");
}

TEST(WrapTest, OneForNobodyIsRefused) {
  const Finished end = ddprun({"-n", "2", "--wrap", "2-4:gdb --args", "true"});
  EXPECT_EQ(end.code, 2);
  EXPECT_EQ(end.err, "ddprun: --wrap: 'gdb' is for none of the ranks; the last one is 1\n");
}

TEST(WrapTest, TheDryRunShowsIt) {
  const Finished end = ddprun({"-n", "3", "--dry-run", "--wrap", "1:echo 'a b' %r", "true", "x"});
  EXPECT_EQ(end.code, 0) << end.err;
  EXPECT_THAT(end.out, HasSubstr("command (of rank 0):\n  true x\n"
                                 "command of rank 1:\n  echo 'a b' 1 true x\n"));
}

class ChdirTest : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directory(folder_ / "sub");
    std::ofstream(folder_ / "sub/program") << "#!/bin/sh\npwd\n";
    ::chmod((folder_ / "sub/program").c_str(), 0755);
    std::ofstream(folder_ / "sub/script.py") << "import os\nprint(os.getcwd())\n";
  }
  // Run from the upper folder, where there is nothing of that name.
  Finished in_folder(const std::string& words) {
    return run({"/bin/sh", "-c",
                "cd " + folder_.path() + " && exec " + ddprun_words({}).front() + " " + words});
  }

  TemporaryFolder folder_;
  const std::string sub_ = std::filesystem::canonical(folder_.path()) / "sub";
};

TEST_F(ChdirTest, WorkersStartThereAndFindTheirProgramsFromThere) {
  EXPECT_EQ(in_folder("--chdir sub pwd").out, sub_ + "\n");
  EXPECT_EQ(in_folder("--chdir sub ./program").out, sub_ + "\n");
  EXPECT_EQ(in_folder("--chdir sub script.py").out, sub_ + "\n");
  EXPECT_EQ(in_folder("--chdir sub --wrap '0:env' ./program").out, sub_ + "\n");
  const Finished end = in_folder("--chdir sub sub/program");
  EXPECT_EQ(end.code, 127);
  EXPECT_THAT(end.err, HasSubstr("cannot start 'sub/program'"));
}

TEST_F(ChdirTest, WhyAProgramCannotStartIsFoundOutThere) {
  std::ofstream(folder_ / "sub/no-interpreter") << "#!/no/such/interpreter\n";
  ::chmod((folder_ / "sub/no-interpreter").c_str(), 0755);
  const Finished end = in_folder("-q --chdir sub ./no-interpreter");
  EXPECT_EQ(end.code, 126);
  EXPECT_THAT(end.err, HasSubstr("/no/such/interpreter"));
}

TEST_F(ChdirTest, ADirectoryThatCannotBeUsedIsRefused) {
  const Finished missing = in_folder("--chdir nowhere true");
  EXPECT_EQ(missing.code, 2);
  EXPECT_EQ(missing.err, "ddprun: --chdir 'nowhere': No such file or directory\n");
  const Finished file = in_folder("--chdir sub/program true");
  EXPECT_EQ(file.code, 2);
  EXPECT_EQ(file.err, "ddprun: --chdir 'sub/program': Not a directory\n");
}

}  // namespace
}  // namespace ddprun::test
