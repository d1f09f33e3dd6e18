// Runs the examples of the pages in docs/tasks as a reader would type them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/integration/manual_examples/example.h"
#include "tests/integration/manual_examples/hosts.h"
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

// Pages whose examples other tests run: tests/integration/slurm, which starts a Slurm,
// tests/integration/hosts, which starts an sshd, and tests/interop/mixed, which has PyTorch.
constexpr std::string_view kElsewhere[] = {"slurm.md", "ssh.md", "mixed-ranks.md"};

Lines pages_to_run() {
  Lines found = pages();
  std::erase_if(found, [](const std::string& page) {
    return std::ranges::find(kElsewhere, fs::path(page).filename().string()) !=
           std::end(kElsewhere);
  });
  return found;
}

// The first line of what nobody runs as it stands there, and why.
struct NotRun {
  std::string page, begin, reason;
};
const NotRun kNotRun[] = {
    {"first-job.md", "apt install ./ddprun_*_amd64.deb",
     "it would change this machine: ./dev package does it in an image"},
    {"hangs.md",
     "for worker in $(pgrep -P \"$(pgrep -P \"$PID\")\"); do eu-stack -p \"$worker\"; done",
     "the machine may lack the tool: run below with another one"},
    {"kubernetes.md", "kubectl apply -f indexed-job.yaml",
     "there is no cluster: tests/integration/packaging checks the files, and starts what they "
     "start"},
    {"ssh.md",
     "ssh-keygen -t ed25519     # unless there is one; an empty passphrase, or ssh-agent and "
     "ssh-add",
     "it asks for a password, and changes this user's own keys"},
    {"ssh.md", "sudo apt install ./ddprun_*_amd64.deb", "as in first-job.md"},
};

class Page : public testing::TestWithParam<std::string> {};

void run_here(const std::string& page, const std::vector<Example>& examples) {
  const TemporaryFolder folder;
  for (Example example : examples) {
    use_port(free_port(), example);
    // What it leaves in the background is not to outlive it.
    const Finished end = run_shell(
        "cd '" + folder.path() +
        "'; PATH='" DDPRUN_PROGRAMS "':$PATH; trap 'kill $! 2>/dev/null' EXIT; " + example.command);
    expect_shown(page, example, end);
  }
}

TEST_P(Page, ShowsWhatHappens) {
  const auto examples = examples_in(text_of(GetParam()));
  ASSERT_FALSE(examples.empty()) << GetParam() << " has no example";
  std::vector<Example> here, at_hosts;
  for (const Example& example : examples)
    (example.host.empty() ? here : at_hosts).push_back(example);
  run_here(GetParam(), here);
  if (at_hosts.empty()) return;
  if (const std::string why = Network::why_not(); !why.empty()) GTEST_SKIP() << why;
  ManualHosts().run(GetParam(), at_hosts);
}

// What a reader is told to type stands in a block for a console, and is run, or is known here.
TEST(Manual, HasNoOtherCommandsThanTheseThatAreNotRun) {
  std::vector<std::string> found, known;
  for (const NotRun& each : kNotRun) known.push_back(std::string(each.page) + ": " + each.begin);
  for (const std::string& page : pages())
    for (const std::string& block : blocks_of("sh", text_of(page)))
      found.push_back(fs::path(page).filename().string() + ": " + lines(block).at(0));
  EXPECT_THAT(found, testing::UnorderedElementsAreArray(known));
}

INSTANTIATE_TEST_SUITE_P(Manual, Page, testing::ValuesIn(pages_to_run()), [](const auto& page) {
  std::string name = fs::path(page.param).stem();
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

// The command is tried with `echo` for the tool, which the machine may lack.
TEST(Hangs, NamesTheWorkersOfARunningJob) {
  const auto blocks = blocks_of("sh", text_of(fs::path(DDPRUN_TASK_PAGES) / "hangs.md"));
  ASSERT_EQ(blocks.size(), 1u);
  std::string command = blocks[0];
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
      "text\n```sh\n$ not this\n```\n```console\n$ a\nx\n$ b\n[exit code 3]\n```\n$ nor this\n"
      "```console\ngpu01$ c &\n  $ y\n```\n");
  ASSERT_EQ(examples.size(), 3u);
  EXPECT_EQ(examples[0].command, "a");
  EXPECT_EQ(examples[0].output, Lines{"x"});
  EXPECT_EQ(examples[0].exit_code, 0);
  EXPECT_EQ(examples[1].exit_code, 3);
  EXPECT_EQ(examples[1].line, 8);
  EXPECT_EQ(examples[1].block, 0);
  EXPECT_EQ(examples[2].host, "gpu01");
  EXPECT_EQ(examples[2].command, "c");
  EXPECT_TRUE(examples[2].background);
  EXPECT_EQ(examples[2].output, Lines{"  $ y"});
  EXPECT_EQ(examples[2].block, 1);
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
