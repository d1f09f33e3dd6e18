// The completion scripts in the shells themselves, as far as these are installed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "tests/integration/support/run.h"

namespace ddprun::test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;
using Texts = std::vector<std::string>;

std::string program(const std::string& name) {
  for (const char* folder : {"/usr/bin/", "/bin/", "/usr/local/bin/"})
    if (::access((folder + name).c_str(), X_OK) == 0) return folder + name;
  return {};
}

// The script of a shell in a file.
std::string script_file(const TemporaryFolder& folder, const std::string& shell) {
  const Finished printed = ddprun({"--print-completion", shell});
  EXPECT_EQ(printed.code, 0) << printed.err;
  const std::string path = folder / ("completion." + shell);
  std::ofstream(path) << printed.out;
  return path;
}

class Completion : public testing::TestWithParam<std::string> {};

TEST_P(Completion, IsTakenByItsShell) {
  const std::string& shell = GetParam();
  const std::string path = program(shell);
  if (path.empty()) GTEST_SKIP() << shell << " is not installed: its completion was NOT tried";
  const TemporaryFolder folder;
  const std::string file = script_file(folder, shell);
  const Finished end =
      shell == "tcsh" ? run({path, "-f", "-c", "source " + file}) : run({path, "-n", file});
  EXPECT_EQ(end.code, 0);
  EXPECT_EQ(end.err, "");
}

INSTANTIATE_TEST_SUITE_P(Shells, Completion, testing::Values("bash", "zsh", "fish", "tcsh"),
                         [](const auto& chosen) { return chosen.param; });

// What bash offers for the last of `words`, which may be empty.
Texts offered_by_bash(const Texts& words) {
  const TemporaryFolder folder;
  Texts command{program("bash"), "--norc", "-c",
                "source \"$0\"; COMP_WORDS=(ddprun \"$@\"); COMP_CWORD=$#; "
                "$(complete -p ddprun | sed 's/.*-F \\([^ ]*\\) .*/\\1/'); "
                "((${#COMPREPLY[@]} == 0)) || printf '%s\\n' \"${COMPREPLY[@]}\"",
                script_file(folder, "bash")};
  command.insert(command.end(), words.begin(), words.end());
  const Finished end = run(command);
  EXPECT_EQ(end.code, 0) << end.err;
  EXPECT_EQ(end.err, "");
  return lines(end.out);
}

TEST(BashCompletion, CompletesNamesOfOptions) {
  EXPECT_THAT(offered_by_bash({"--npro"}), ElementsAre("--nproc-per-node"));
  EXPECT_THAT(offered_by_bash({"--nproc_p"}), ElementsAre("--nproc_per_node"));
  EXPECT_THAT(offered_by_bash({"-n", "4", "--nno"}), ElementsAre("--nnodes"));
  EXPECT_THAT(offered_by_bash({"--standalone", "--ma"}),
              UnorderedElementsAre("--max-restarts", "--master-addr", "--master-port"));
}

TEST(BashCompletion, CompletesValues) {
  EXPECT_THAT(offered_by_bash({"--device", ""}), ElementsAre("auto", "cuda", "cpu"));
  EXPECT_THAT(offered_by_bash({"--device", "=", "c"}), ElementsAre("cuda", "cpu"));
  EXPECT_THAT(offered_by_bash({"-n", "a"}), ElementsAre("auto"));
  EXPECT_THAT(offered_by_bash({"--log-dir", "/us"}), Contains("/usr"));
}

TEST(BashCompletion, LeavesTheProgramsWordsAlone) {
  EXPECT_THAT(offered_by_bash({"-n", "4", "prog", "--npro"}), IsEmpty());
  EXPECT_THAT(offered_by_bash({"--", "prog", "--npro"}), IsEmpty());
  EXPECT_THAT(offered_by_bash({"--", "--npro"}), IsEmpty());
}

TEST(Completion, AnotherShellIsNamed) {
  const Finished end = ddprun({"--print-completion", "ksh"});
  EXPECT_EQ(end.code, 2);
  EXPECT_EQ(end.err,
            "ddprun: --print-completion: 'ksh' is not one of bash, zsh, fish and tcsh; did you "
            "mean zsh?\n");
}

}  // namespace
}  // namespace ddprun::test
