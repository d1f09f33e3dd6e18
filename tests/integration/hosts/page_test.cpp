// Runs the examples of docs/tasks/ssh.md: gpu01 and gpu02 are addresses of a real sshd.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <iterator>

#include "tests/integration/hosts/ssh_server.h"
#include "tests/integration/manual_examples/example.h"
#include "tests/integration/manual_examples/hosts.h"

namespace ddprun::test {
namespace {

// A reader's ~/.ssh/config has what the server's has here.
void put_ssh(const SshServer& server, const std::string& folder) {
  const std::string file = folder + "/ssh";
  std::ofstream(file) << "#!/bin/sh\nexec /usr/bin/ssh -F '" << server.path("config")
                      << "' \"$@\"\n";
  ::chmod(file.c_str(), 0755);
}

TEST(Page, ShowsWhatHappens) {
  if (const std::string why = no_sshd(); !why.empty()) GTEST_SKIP() << why;
  const SshServer server;
  const TemporaryFolder folder, programs;
  put_ssh(server, programs.path());
  const std::string page = DDPRUN_TASK_PAGES "/ssh.md";
  std::ifstream in(page);
  const auto examples = examples_in({std::istreambuf_iterator<char>(in), {}});
  ASSERT_GE(examples.size(), 5u);
  std::string before;  // what an earlier line has exported
  for (const Example& example : examples) {
    if (example.command.starts_with("export ")) {
      before += example.command + "; ";
      continue;
    }
    expect_shown(page, example,
                 run_shell("cd '" + folder.path() + "'; PATH='" + programs.path() +
                           ":" DDPRUN_PROGRAMS "':$PATH; " + before + example.command));
  }
}

}  // namespace
}  // namespace ddprun::test
