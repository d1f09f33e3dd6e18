#include "tests/bench/observed_process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <time.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <system_error>

extern char** environ;

namespace ddprun::bench {
namespace {

std::filesystem::path proc(pid_t pid) {
  return "/proc/" + std::to_string(pid);
}

}  // namespace

ObservedProcess::ObservedProcess(const std::vector<std::string>& argv, const std::string& output) {
  std::vector<char*> words;
  for (const std::string& word : argv) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  for (int fd : {0, 2}) posix_spawn_file_actions_addopen(&files, fd, "/dev/null", O_RDWR, 0);
  posix_spawn_file_actions_addopen(&files, 1, output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  const int error = posix_spawn(&pid_, words[0], &files, nullptr, words.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  if (error != 0)
    throw std::system_error(error, std::generic_category(), "cannot start " + argv[0]);
}

ObservedProcess::~ObservedProcess() {
  if (pid_ == 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

int ObservedProcess::wait() {
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

pid_t parent_of(pid_t pid) {
  std::ifstream status(proc(pid) / "status");
  for (std::string word; status >> word;) {
    pid_t parent = 0;
    if (word == "PPid:" && status >> parent) return parent;
  }
  throw std::runtime_error("no PPid in " + (proc(pid) / "status").string());
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
