#include "ddp/progress.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <functional>
#include <string>

namespace ddp {
namespace {

// The variable is read once for each process, so each case has its own. Returns its exit code, or
// the signal as a negative number.
int in_child(const std::string& variable, const std::function<int()>& body) {
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGPIPE, SIG_DFL);
    setenv("DDPRUN_PROGRESS_FD", variable.c_str(), 1);
    _exit(body());
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

struct Pipe {
  Pipe() { EXPECT_EQ(pipe(ends), 0); }
  ~Pipe() {
    close(ends[0]);
    close(ends[1]);
  }
  std::string number() const { return std::to_string(ends[1]); }
  std::string content() const {
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    std::string text(4096, '\0');
    const ssize_t size = read(ends[0], text.data(), text.size());
    text.resize(size < 0 ? 0 : static_cast<std::size_t>(size));
    return text;
  }
  int ends[2] = {-1, -1};
};

TEST(Progress, ReachesThePipe) {
  const Pipe pipe;
  EXPECT_EQ(in_child(pipe.number(),
                     [&] {
                       progress(1);
                       progress(1234567890123);
                       return fcntl(pipe.ends[1], F_GETFD) == FD_CLOEXEC ? 0 : 1;
                     }),
            0);
  EXPECT_EQ(pipe.content(), "1\n1234567890123\n");
}

TEST(Progress, AFullPipeDoesNotBlock) {
  const Pipe pipe;
  EXPECT_EQ(in_child(pipe.number(),
                     [] {
                       alarm(10);
                       for (int i = 0; i < 100'000; ++i) progress(i);
                       return 0;
                     }),
            0);
}

TEST(Progress, ALauncherThatIsGoneIsHarmless) {
  const Pipe pipe;
  EXPECT_EQ(in_child(pipe.number(),
                     [&] {
                       close(pipe.ends[0]);
                       progress(1);
                       progress(2);
                       return 0;
                     }),
            0);
}

// A child of a worker inherits the variable, and the number may be that of any file.
TEST(Progress, WritesToNothingButAPipe) {
  char name[] = "/tmp/progress_XXXXXX";
  const int file = mkstemp(name);
  unlink(name);
  for (const std::string& variable :
       {std::to_string(file), std::string("999"), std::string("x"), std::string("1"),
        std::string("-1"), std::string(""), std::to_string(file) + "x"}) {
    EXPECT_EQ(in_child(variable,
                       [] {
                         progress(1);
                         return 0;
                       }),
              0)
        << variable;
  }
  EXPECT_EQ(lseek(file, 0, SEEK_END), 0);
  close(file);
}

TEST(Progress, TheEndToReadIsNotWrittenTo) {
  const Pipe pipe;
  EXPECT_EQ(in_child(std::to_string(pipe.ends[0]),
                     [&] {
                       progress(1);
                       return fcntl(pipe.ends[0], F_GETFD) == 0 ? 0 : 1;
                     }),
            0);
}

}  // namespace
}  // namespace ddp
