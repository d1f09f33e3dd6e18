#include "launcher/process/children.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <string_view>

#include "rendezvous/base/read_file.h"
#include "rendezvous/base/unique_fd.h"

namespace ddprun::process {
namespace {

std::string proc(pid_t pid, const char* file) {
  return "/proc/" + std::to_string(pid) + "/" + file;
}

std::vector<pid_t> parse_pids(std::string_view text) {
  std::vector<pid_t> pids;
  const char* at = text.data();
  const char* end = at + text.size();
  for (pid_t pid = 0; at < end; ++at) {
    const auto parsed = std::from_chars(at, end, pid);
    if (parsed.ec != std::errc{}) break;
    pids.push_back(pid);
    at = parsed.ptr;
  }
  return pids;
}

// The fields of /proc/PID/stat behind the command name, which may itself hold blanks and brackets.
struct Stat {
  char state = 'X';
  pid_t parent = 0;
};

Stat stat_of(pid_t pid) {
  const auto text = read_file(proc(pid, "stat"));
  const std::size_t close = text ? text->rfind(')') : std::string::npos;
  if (close == std::string::npos || close + 4 > text->size()) return {};
  return {(*text)[close + 2], static_cast<pid_t>(std::atoi(text->c_str() + close + 4))};
}

// For kernels without CONFIG_PROC_CHILDREN.
std::vector<pid_t> children_by_search(pid_t parent) {
  std::vector<pid_t> found;
  DIR* folder = ::opendir("/proc");
  if (folder == nullptr) return found;
  while (const dirent* entry = ::readdir(folder)) {
    const pid_t pid = std::atoi(entry->d_name);
    if (pid > 0 && stat_of(pid).parent == parent) found.push_back(pid);
  }
  ::closedir(folder);
  return found;
}

bool contains(const std::vector<pid_t>& pids, pid_t pid) {
  return std::find(pids.begin(), pids.end(), pid) != pids.end();
}

using Clock = std::chrono::steady_clock;

void pause_briefly() {
  ::poll(nullptr, 0, 1);
}

bool has_child() {
  siginfo_t info{};
  return ::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

// Reading `children` while children come and go may miss some of them, so an empty list has to
// stay empty before it is believed.
bool reading_has_missed_some(const std::function<bool()>& found_some) {
  constexpr int kTries = 20;
  for (int i = 0; i < kTries && has_child(); ++i) {
    if (found_some()) return true;
    pause_briefly();
  }
  return false;
}

// Blocks until the child has ended or the deadline has passed, then reaps it.
bool await_end(pid_t pid, Clock::time_point deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
  const UniqueFd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  pollfd ended{pidfd.get(), POLLIN, 0};
  if (pidfd && ::poll(&ended, 1, static_cast<int>(std::max<decltype(left)>(left, 0))) == 0)
    return false;
  // It is dead, but cannot be reaped before a debugger that was attached to it has let go.
  while (::waitpid(pid, nullptr, WNOHANG) == 0) {
    if (Clock::now() >= deadline) return false;
    pause_briefly();
  }
  return true;
}

}  // namespace

std::vector<pid_t> children_of(pid_t pid) {
  const std::string id = std::to_string(pid);
  // Children belong to the thread that started them; our processes start theirs from the main
  // thread, but a worker's own threads start processes as well.
  DIR* tasks = ::opendir(("/proc/" + id + "/task").c_str());
  if (tasks == nullptr) return {};
  std::vector<pid_t> found;
  bool readable = true;
  while (const dirent* entry = ::readdir(tasks)) {
    if (entry->d_name[0] == '.') continue;
    const auto text = read_file("/proc/" + id + "/task/" + entry->d_name + "/children");
    if (!text) {
      readable = false;
      continue;
    }
    for (pid_t child : parse_pids(*text)) found.push_back(child);
  }
  ::closedir(tasks);
  if (found.empty() && !readable) return children_by_search(pid);
  return found;
}

std::vector<pid_t> descendants_of(pid_t pid) {
  std::vector<pid_t> found = children_of(pid);
  for (std::size_t next = 0; next < found.size(); ++next)
    for (pid_t child : children_of(found[next])) found.push_back(child);
  return found;
}

pid_t parent_of(pid_t pid) {
  return stat_of(pid).parent;
}

bool is_alive(pid_t pid) {
  const char state = stat_of(pid).state;
  return state != 'X' && state != 'Z';
}

bool is_stopped(pid_t pid) {
  const char state = stat_of(pid).state;
  return state == 'T' || state == 't';
}

std::vector<pid_t> kill_all_children(const std::vector<pid_t>& spared, int patience_ms) {
  const auto deadline = Clock::now() + std::chrono::milliseconds(patience_ms);
  std::vector<pid_t> stuck, targets;
  const auto is_target = [&](pid_t pid) { return !contains(spared, pid) && !contains(stuck, pid); };
  const auto find_targets = [&] {
    targets = children_of(::getpid());
    std::erase_if(targets, [&](pid_t pid) { return !is_target(pid); });
    return !targets.empty();
  };
  for (;;) {
    if (!find_targets() && !reading_has_missed_some(find_targets)) {
      std::erase_if(stuck, [](pid_t pid) { return !is_alive(pid); });
      return stuck;
    }
    // The whole tree at once: a parent that is killed first cannot start children anew.
    for (pid_t target : targets) {
      const std::vector<pid_t> below = descendants_of(target);
      ::kill(target, SIGKILL);
      for (pid_t pid : below) ::kill(pid, SIGKILL);
    }
    for (pid_t target : targets)
      if (!await_end(target, deadline)) stuck.push_back(target);
  }
}

}  // namespace ddprun::process
