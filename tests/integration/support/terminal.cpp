#include "tests/integration/support/terminal.h"

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>

#include "launcher/process/children.h"

namespace ddprun::test {
namespace {

using Clock = std::chrono::steady_clock;

}  // namespace

Terminal::Terminal(const std::string& script, const std::vector<std::string>& environment,
                   std::chrono::seconds limit)
    : deadline_(Clock::now() + limit) {
  int master = -1;
  pid_ = ::forkpty(&master, nullptr, nullptr, nullptr);
  if (pid_ < 0) throw std::runtime_error("forkpty");
  if (pid_ == 0) {
    ::setenv("DDPRUN", DDPRUN_PROGRAM, 1);
    ::setenv("LC_ALL", "C.UTF-8", 1);
    ::setenv("TERM", "dumb", 1);
    for (const std::string& entry : environment) ::putenv(const_cast<char*>(entry.c_str()));
    ::execlp("bash", "bash", "--norc", "-c", script.c_str(), nullptr);
    ::_exit(99);
  }
  master_.reset(master);
  ::fcntl(master, F_SETFD, FD_CLOEXEC);
}

Terminal::~Terminal() {
  if (pid_ == 0) return;
  const auto descendants = process::descendants_of(pid_);
  ::kill(pid_, SIGKILL);
  for (pid_t pid : descendants) ::kill(pid, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

void Terminal::type(const std::string& keys) {
  if (::write(master_.get(), keys.data(), keys.size()) != static_cast<ssize_t>(keys.size()))
    throw std::runtime_error("cannot type");
}

// False when nobody has the terminal open any more, or when the limit has passed.
bool Terminal::read_some() {
  using std::chrono::milliseconds;
  const auto left = std::chrono::duration_cast<milliseconds>(deadline_ - Clock::now()).count();
  pollfd ready{master_.get(), POLLIN, 0};
  if (left <= 0 || ::poll(&ready, 1, static_cast<int>(left)) <= 0) return false;
  char buffer[4096];
  const ssize_t got = ::read(master_.get(), buffer, sizeof buffer);
  if (got > 0) screen_.append(buffer, static_cast<std::size_t>(got));
  return got > 0;
}

bool Terminal::shows(const std::string& text) {
  std::size_t at = 0;
  while ((at = screen_.find(text, found_)) == std::string::npos)
    if (!read_some()) return false;
  found_ = at + text.size();
  return true;
}

int Terminal::finish() {
  while (read_some()) {
  }
  if (Clock::now() >= deadline_) return -1;
  int status = 0;
  ::waitpid(pid_, &status, 0);
  pid_ = 0;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace ddprun::test
