#include "tests/bench/observed_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <system_error>

#include "rendezvous/base/unique_fd.h"

extern char** environ;

namespace ddprun::bench {
namespace {

std::filesystem::path proc(pid_t pid) {
  return "/proc/" + std::to_string(pid);
}

// Runs in the child, on the parent's memory: async-signal-safe calls only.
[[noreturn]] void become(char* const* words, const char* output, pid_t bench, volatile int& error) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != bench) ::_exit(127);
  const int none = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  const int out = ::open(output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (::dup2(none, 0) == 0 && ::dup2(out, 1) == 1 && ::dup2(none, 2) == 2)
    ::execve(words[0], words, environ);
  error = errno;
  ::_exit(127);
}

// posix_spawn knows no parent-death signal. Out of line and without objects that have destructors,
// since the child returns through none of its frames.
[[gnu::noinline]] pid_t vfork_and_become(char* const* words, const char* output, pid_t bench,
                                         volatile int& error) {
  const pid_t pid = ::vfork();
  if (pid == 0) become(words, output, bench, error);
  return pid;
}

}  // namespace

ObservedProcess::ObservedProcess(const std::vector<std::string>& argv, const std::string& output) {
  std::vector<char*> words;
  for (const std::string& word : argv) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  volatile int failed = 0;
  const pid_t pid = vfork_and_become(words.data(), output.c_str(), ::getpid(), failed);
  const int error = pid < 0 ? errno : failed;
  if (pid > 0 && error != 0) ::waitpid(pid, nullptr, 0);
  if (error != 0)
    throw std::system_error(error, std::generic_category(), "cannot start " + argv[0]);
  pid_ = pid;
  name_ = argv[0];
}

ObservedProcess::~ObservedProcess() {
  if (pid_ == 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

void ObservedProcess::wait_for_end(int seconds) const {
  const UniqueFd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
  pollfd ended{pidfd.get(), POLLIN, 0};
  if (pidfd && ::poll(&ended, 1, seconds * 1000) == 0)
    throw std::runtime_error(name_ + " did not end in " + std::to_string(seconds) + " s");
}

int ObservedProcess::wait(int seconds) {
  wait_for_end(seconds);
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0) {
    if (errno != EINTR) throw std::system_error(errno, std::generic_category(), "waitpid");
  }
  pid_ = 0;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::vector<pid_t> children_of(pid_t pid) {
  std::vector<pid_t> found;
  // The kernel lists children by the thread that made them.
  std::error_code gone;
  for (const auto& task : std::filesystem::directory_iterator(proc(pid) / "task", gone)) {
    std::ifstream children(task.path() / "children");
    for (pid_t child; children >> child;) found.push_back(child);
  }
  return found;
}

double pss_megabytes(pid_t pid) {
  std::ifstream rollup(proc(pid) / "smaps_rollup");
  for (std::string word; rollup >> word;) {
    double kilobytes = 0;
    if (word == "Pss:" && rollup >> kilobytes) return kilobytes / 1024;
  }
  throw std::runtime_error("no Pss in " + (proc(pid) / "smaps_rollup").string());
}

double cpu_milliseconds(pid_t pid) {
  clockid_t clock{};
  timespec spent{};
  if (::clock_getcpuclockid(pid, &clock) != 0 || ::clock_gettime(clock, &spent) != 0)
    throw std::runtime_error("no CPU clock of process " + std::to_string(pid));
  return static_cast<double>(spent.tv_sec) * 1e3 + static_cast<double>(spent.tv_nsec) / 1e6;
}

std::int64_t context_switches(pid_t pid) {
  std::ifstream status(proc(pid) / "status");
  std::int64_t sum = 0;
  int found = 0;
  for (std::string word; status >> word;) {
    std::int64_t count = 0;
    if (word.find("ctxt_switches:") == std::string::npos || !(status >> count)) continue;
    sum += count;
    ++found;
  }
  if (found != 2)
    throw std::runtime_error("no ctxt_switches in " + (proc(pid) / "status").string());
  return sum;
}

}  // namespace ddprun::bench
