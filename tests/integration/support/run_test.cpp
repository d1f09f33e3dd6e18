// A Program is not left behind, however its test ends.
#include "tests/integration/support/run.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <memory>
#include <thread>

namespace ddprun::test {
namespace {

using std::chrono::seconds;

// Of this test only.
std::string marker(const std::string& name) {
  return "run_test-" + name + "-" + std::to_string(::getpid());
}

std::vector<std::string> sleeper(const std::string& name) {
  return {"/bin/bash", "-c", "echo up; exec -a \"$0\" sleep 60", name};
}

TEST(ProgramTest, EndsWithATestThatIsKilled) {
  const std::string name = marker("killed");
  const pid_t test = ::fork();
  if (test == 0) {
    Program program(sleeper(name));
    program.wait_for_output("up");
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(test, &status, 0), test);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_TRUE(nobody_has(name, seconds(10)));
}

TEST(ProgramTest, LivesOnWhenTheThreadHasEndedThatStartedIt) {
  std::unique_ptr<Program> program;
  std::thread([&] { program = std::make_unique<Program>(sleeper(marker("thread"))); }).join();
  ASSERT_TRUE(program->wait_for_output("up"));
  ::kill(program->pid(), SIGTERM);
  EXPECT_EQ(program->finish().signal, SIGTERM);
}

}  // namespace
}  // namespace ddprun::test
