#include "tests/bench/observed_process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <system_error>
#include <thread>

extern char** environ;

namespace ddprun::bench {
namespace {

std::filesystem::path proc(pid_t pid) {
  return "/proc/" + std::to_string(pid);
}

void add_descendants(pid_t pid, std::vector<pid_t>& found) {
  // The kernel lists children by the thread that made them.
  std::error_code gone;
  for (const auto& task : std::filesystem::directory_iterator(proc(pid) / "task", gone)) {
    std::ifstream children(task.path() / "children");
    for (pid_t child; children >> child;) {
      found.push_back(child);
      add_descendants(child, found);
    }
  }
}

}  // namespace

ObservedProcess::ObservedProcess(const std::vector<std::string>& argv) {
  std::vector<char*> words;
  for (const std::string& word : argv) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  for (int fd = 0; fd < 3; ++fd)
    posix_spawn_file_actions_addopen(&files, fd, "/dev/null", O_RDWR, 0);
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

std::vector<pid_t> descendants(pid_t pid) {
  std::vector<pid_t> found;
  add_descendants(pid, found);
  return found;
}

std::string short_name(pid_t pid) {
  std::string name;
  std::getline(std::ifstream(proc(pid) / "comm"), name);
  return name;
}

double pss_megabytes(pid_t pid) {
  std::ifstream rollup(proc(pid) / "smaps_rollup");
  for (std::string word; rollup >> word;) {
    double kilobytes = 0;
    if (word == "Pss:" && rollup >> kilobytes) return kilobytes / 1024;
  }
  throw std::runtime_error("no Pss in " + (proc(pid) / "smaps_rollup").string());
}

std::vector<pid_t> wait_for_descendants(pid_t pid, const std::string& name, std::size_t count) {
  const auto deadline = Clock::now() + std::chrono::seconds(10);
  while (Clock::now() < deadline) {
    std::vector<pid_t> named;
    for (const pid_t descendant : descendants(pid)) {
      if (short_name(descendant) == name) named.push_back(descendant);
    }
    if (named.size() == count) return named;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  throw std::runtime_error("no " + std::to_string(count) + " processes called " + name +
                           " under process " + std::to_string(pid) + " after 10 s");
}

}  // namespace ddprun::bench
