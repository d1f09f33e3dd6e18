#include "rendezvous/base/command_of.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ddprun {
namespace {

TEST(CommandOf, AProcessThatIsGone) {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(0);
  ::waitpid(pid, nullptr, 0);
  EXPECT_EQ(command_of(pid), "?");
}

// sleep refuses such words, so the process is a shell that reads a pipe which only its end closes.
TEST(CommandOf, WordsAreJoinedCutAndWithoutControlCharacters) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::dup2(ends[0], STDIN_FILENO);
    ::close(ends[1]);
    const std::string word = "evil\x1b[2J\n" + std::string(100, 'x');
    ::execl("/bin/sh", "sh", "-s", word.c_str(), nullptr);
    ::_exit(127);
  }
  ::close(ends[0]);
  std::string command;
  while (!command.starts_with("sh -s")) command = command_of(pid);  // until it was executed
  ::close(ends[1]);
  ::waitpid(pid, nullptr, 0);
  EXPECT_EQ(command, "sh -s evil [2J " + std::string(42, 'x') + "...");
}

}  // namespace
}  // namespace ddprun
