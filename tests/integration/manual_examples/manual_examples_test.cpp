// Runs the examples of the pages in docs/tasks as a reader would type them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/integration/manual_examples/example.h"
#include "tests/integration/multi_node/nodes.h"
#include "tests/integration/support/run.h"

namespace ddprun::test {
namespace {

namespace fs = std::filesystem;
using Lines = std::vector<std::string>;

std::string text_of(const fs::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

Lines pages() {
  Lines found;
  for (const auto& entry : fs::directory_iterator(DDPRUN_TASK_PAGES))
    if (entry.path().extension() == ".md") found.push_back(entry.path());
  std::sort(found.begin(), found.end());
  return found;
}

class Page : public testing::TestWithParam<std::string> {};

// The order of two streams, and of two ranks, is not the page's to promise: stdout first.
TEST_P(Page, ShowsWhatHappens) {
  const TemporaryFolder folder;
  const auto examples = examples_in(text_of(GetParam()));
  ASSERT_FALSE(examples.empty()) << GetParam() << " has no example";
  for (Example example : examples) {
    use_port(free_port(), example);
    const std::string where = GetParam() + ":" + std::to_string(example.line);
    const Finished end = run_shell("cd '" + folder.path() +
                                   "'; PATH='" DDPRUN_PROGRAMS "':$PATH; " + example.command);
    const std::string all = end.out + end.err;
    EXPECT_EQ(end.code, example.exit_code) << where << "\n" << all;
    EXPECT_TRUE(shows(example.output, lines(all))) << where << " differs:\n" << all;
  }
}

INSTANTIATE_TEST_SUITE_P(Manual, Page, testing::ValuesIn(pages()), [](const auto& page) {
  std::string name = fs::path(page.param).stem();
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

// The command is tried with `echo` for the tool, which the machine may lack.
TEST(Hangs, NamesTheWorkersOfARunningJob) {
  const std::string page = text_of(fs::path(DDPRUN_TASK_PAGES) / "hangs.md");
  const std::string opening = "```sh\n";
  const auto begin = page.find(opening);
  ASSERT_NE(begin, std::string::npos);
  std::string command = page.substr(begin + opening.size());
  command.resize(command.find("```"));
  const std::string tool = "eu-stack -p";
  ASSERT_NE(command.find(tool), std::string::npos) << command;
  command.replace(command.find(tool), tool.size(), "echo");

  Program job(ddprun_words({"-n", "2", "sh", "-c", "echo up $$; exec sleep 60"}));
  ASSERT_TRUE(job.wait_for_output("up", 2));
  const Finished end = run_shell("PID=" + std::to_string(job.pid()) + "; " + command);
  ::kill(job.pid(), SIGTERM);
  Lines workers;
  for (const std::string& line : lines(job.finish().out)) workers.push_back(line.substr(3));
  EXPECT_THAT(lines(end.out), testing::UnorderedElementsAreArray(workers)) << end.err;
}

TEST(Example, TakesAnotherPortInCommandAndOutput) {
  Example example{.command = "a --master-port 29612 'a --master-port 29612'",
                  .output = {"port 29612 of 127.0.0.1", "…"}};
  use_port("4711", example);
  EXPECT_EQ(example.command, "a --master-port 4711 'a --master-port 4711'");
  EXPECT_EQ(example.output, (Lines{"port 4711 of 127.0.0.1", "…"}));
  Example without{.command = "a 29612", .output = {"29612"}};
  use_port("4711", without);
  EXPECT_EQ(without.command, "a 29612");
}

TEST(Example, IsReadFromTheBlocksForAConsole) {
  const auto examples = examples_in(
      "text\n```sh\n$ not this\n```\n```console\n$ a\nx\n$ b\n[exit code 3]\n```\n$ nor this\n");
  ASSERT_EQ(examples.size(), 2u);
  EXPECT_EQ(examples[0].command, "a");
  EXPECT_EQ(examples[0].output, Lines{"x"});
  EXPECT_EQ(examples[0].exit_code, 0);
  EXPECT_EQ(examples[1].exit_code, 3);
  EXPECT_EQ(examples[1].line, 8);
}

TEST(Example, ShowsDotsForWhatIsLeftOut) {
  EXPECT_TRUE(shows({"a", "...", "c … e"}, {"a", "b", "b", "c d e"}));
  EXPECT_TRUE(shows({"...", "a", "..."}, {"a"}));
  EXPECT_FALSE(shows({"a"}, {"a", "b"}));
  EXPECT_FALSE(shows({"a", "b"}, {"a"}));
  EXPECT_FALSE(shows({"a … c"}, {"a b d"}));
  EXPECT_FALSE(shows({"...", "b"}, {"b", "a"}));
}

}  // namespace
}  // namespace ddprun::test
