#include "tests/integration/support/run.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <sstream>
#include <stdexcept>

#include "rendezvous/base/read_file.h"
#include "tests/support/gloo_chatter.h"

namespace ddprun::test {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::duration_cast;

std::pair<UniqueFd, UniqueFd> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("pipe2");
  return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> result;
  for (std::string& word : words) result.push_back(word.data());
  result.push_back(nullptr);
  return result;
}

std::vector<std::string> fixed_environment(const std::vector<std::string>& added) {
  std::vector<std::string> all{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
                               "LC_ALL=C.UTF-8"};
  for (const char* name : {"HOME", "TMPDIR", "XDG_CACHE_HOME"})
    if (const char* value = std::getenv(name)) all.push_back(std::string(name) + "=" + value);
  all.insert(all.end(), added.begin(), added.end());
  return all;
}

// In the child: whoever kills the test kills it too.
void end_with(pid_t test) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != test) ::_exit(99);
}

}  // namespace

Program::Program(std::vector<std::string> words, RunOptions options) : started_(Clock::now()) {
  deadline_ = started_ + options.limit;
  std::vector<std::string> environment = fixed_environment(options.environment);
  const auto argv = pointers(words);
  const auto env = pointers(environment);
  auto [out_read, out_write] = make_pipe();
  auto [err_read, err_write] = make_pipe();
  // The kernel counts from the end of the thread that forked, which may come before the test's.
  const bool by_main_thread = ::gettid() == ::getpid();
  const pid_t test = ::getpid();
  pid_ = ::fork();
  if (pid_ == 0) {
    ::setpgid(0, 0);
    if (by_main_thread) end_with(test);
    // Whatever nohup or a shell's background have done to this process.
    for (const int signo : {SIGINT, SIGHUP, SIGQUIT, SIGTERM}) ::signal(signo, SIG_DFL);
    if (options.ignore_hangup) ::signal(SIGHUP, SIG_IGN);
    ::dup2(::open(options.input.empty() ? "/dev/null" : options.input.c_str(), O_RDONLY), 0);
    ::dup2(out_write.get(), 1);
    ::dup2(err_write.get(), 2);
    ::execve(argv[0], argv.data(), env.data());
    ::_exit(99);
  }
  out_end_ = std::move(out_read);
  err_end_ = std::move(err_read);
}

Program::~Program() {
  if (reaped_) return;
  ::kill(-pid_, SIGKILL);
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

// Reads what comes next from either stream; false at the end of both or when the limit has passed.
bool Program::read_some() {
  pollfd ends[2] = {{out_end_.get(), POLLIN, 0}, {err_end_.get(), POLLIN, 0}};
  const auto left = duration_cast<std::chrono::milliseconds>(deadline_ - Clock::now()).count();
  if ((!out_end_ && !err_end_) || left <= 0 || ::poll(ends, 2, static_cast<int>(left)) <= 0) {
    timed_out_ = (out_end_ || err_end_);
    return false;
  }
  char buffer[65536];
  const auto take = [&](UniqueFd& end, std::string& text) {
    const ssize_t got = ::read(end.get(), buffer, sizeof buffer);
    if (got > 0) text.append(buffer, static_cast<std::size_t>(got));
    if (got <= 0) end.reset();
  };
  if (ends[0].revents != 0) take(out_end_, out_);
  if (ends[1].revents != 0) take(err_end_, err_);
  return true;
}

bool Program::wait_for(const std::string& text, const std::string& in) {
  while (in.find(text) == std::string::npos)
    if (!read_some()) return false;
  return true;
}

bool Program::wait_for_output(const std::string& text) {
  return wait_for(text, out_);
}
bool Program::wait_for_output(const std::string& text, int times) {
  while (count_of(text, out_) < times)
    if (!read_some()) return false;
  return true;
}
bool Program::wait_for_error(const std::string& text) {
  return wait_for(text, err_);
}

bool Program::wait_for_end() {
  const UniqueFd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
  pollfd ended{pidfd.get(), POLLIN, 0};
  const auto left = duration_cast<std::chrono::milliseconds>(deadline_ - Clock::now()).count();
  return ::poll(&ended, 1, static_cast<int>(std::max<decltype(left)>(left, 0))) == 1;
}

Finished Program::finish() {
  while (read_some()) {
  }
  Finished result;
  result.timed_out = timed_out_ || !wait_for_end();
  if (result.timed_out) ::kill(-pid_, SIGKILL);
  int status = 0;
  ::waitpid(pid_, &status, 0);
  reaped_ = true;
  result.took = duration_cast<std::chrono::milliseconds>(Clock::now() - started_);
  if (WIFEXITED(status)) result.code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
  result.out = without_gloo_chatter(out_);
  result.err = err_;
  return result;
}

Finished run(std::vector<std::string> words, RunOptions options) {
  return Program(std::move(words), std::move(options)).finish();
}

Finished run_shell(const std::string& command_line, RunOptions options) {
  return run({"/bin/bash", "-c", command_line}, std::move(options));
}

std::vector<std::string> ddprun_words(std::vector<std::string> words) {
  words.insert(words.begin(), DDPRUN_PROGRAM);
  return words;
}

Finished ddprun(std::vector<std::string> words, RunOptions options) {
  return run(ddprun_words(std::move(words)), std::move(options));
}

int count_of(const std::string& text, const std::string& in) {
  int count = 0;
  for (auto at = in.find(text); at != std::string::npos; at = in.find(text, at + text.size()))
    ++count;
  return count;
}

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> result;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) result.push_back(line);
  return result;
}

std::vector<pid_t> pids_with(const std::string& marker) {
  std::vector<pid_t> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const pid_t pid = std::atoi(entry.path().filename().c_str());
    if (pid <= 0 || pid == ::getpid()) continue;
    const auto words = read_file(entry.path() / "cmdline");
    if (words && words->find(marker) != std::string::npos) found.push_back(pid);
  }
  return found;
}

bool nobody_has(const std::string& marker, std::chrono::milliseconds limit) {
  const auto deadline = Clock::now() + limit;
  while (!pids_with(marker).empty()) {
    if (Clock::now() > deadline) return false;
    ::poll(nullptr, 0, 5);  // there is no event for "a process that is not my child has ended"
  }
  return true;
}

namespace {

bool is_in_state(pid_t pid, char state) {
  const auto status = read_file("/proc/" + std::to_string(pid) + "/status");
  return status && status->find(std::string("\nState:\t") + state) != std::string::npos;
}

// A shell that starts a command by vfork waits, in state D, until that one has called exec; where
// both were stopped in between, only that one is shown as stopped.
bool waits_for_a_stopped_child(pid_t pid) {
  const std::string id = std::to_string(pid);
  std::istringstream children(read_file("/proc/" + id + "/task/" + id + "/children").value_or(""));
  if (!is_in_state(pid, 'D')) return false;
  return std::any_of(std::istream_iterator<pid_t>(children), {},
                     [](pid_t child) { return is_in_state(child, 'T'); });
}

}  // namespace

bool comes_to_state(pid_t pid, char state, std::chrono::milliseconds limit) {
  const auto deadline = Clock::now() + limit;
  for (;;) {
    if (is_in_state(pid, state) || (state == 'T' && waits_for_a_stopped_child(pid))) return true;
    if (Clock::now() > deadline) return false;
    ::poll(nullptr, 0, 2);  // there is no event for it unless one is the parent
  }
}

bool is_stuck_writing(pid_t pid, std::chrono::milliseconds limit) {
  const auto deadline = Clock::now() + limit;
  std::string before;
  while (Clock::now() < deadline) {
    const std::string now = read_file("/proc/" + std::to_string(pid) + "/io").value_or("");
    if (!now.empty() && now == before) return true;
    before = now;
    ::poll(nullptr, 0, 50);  // that something does not happen any more is no event
  }
  return false;
}

}  // namespace ddprun::test
