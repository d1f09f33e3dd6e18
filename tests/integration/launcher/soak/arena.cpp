#include "tests/integration/launcher/soak/arena.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <stdexcept>
#include <utility>

#include "launcher/process/children.h"
#include "rendezvous/base/command_of.h"
#include "rendezvous/base/read_file.h"
#include "rendezvous/base/unique_fd.h"
#include "tests/integration/support/left_behind.h"

namespace ddprun::soak {
namespace {

namespace fs = std::filesystem;
using test::first_in;
using test::pids_with_variable;

constexpr int kLimitMs = 20'000;

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> result;
  for (std::string& word : words) result.push_back(word.data());
  result.push_back(nullptr);
  return result;
}

bool ends_within(int pidfd, std::chrono::microseconds limit) {
  const timespec time{limit.count() / 1'000'000, limit.count() % 1'000'000 * 1000};
  pollfd ended{pidfd, POLLIN, 0};
  return ::ppoll(&ended, 1, &time, nullptr) == 1;
}

UniqueFd pidfd_of(pid_t pid) {
  return UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
}

// The guardian's only child, once there is one; 0 when the guardian has ended before.
pid_t launcher_of(pid_t guardian, int guardian_pidfd) {
  for (;;) {
    const auto children = process::children_of(guardian);
    if (!children.empty()) return children.front();
    // No event tells of a fork in another process.
    if (ends_within(guardian_pidfd, std::chrono::microseconds(200))) return 0;
  }
}

// What a shell does for Ctrl-Z and `fg`: it continues a job once that has stopped.
void suspend_and_continue(pid_t guardian, int guardian_pidfd) {
  ::kill(guardian, SIGTSTP);
  for (int tries = 0; tries < kLimitMs; ++tries) {
    siginfo_t stopped{};
    ::waitid(P_PID, static_cast<id_t>(guardian), &stopped, WSTOPPED | WNOHANG | WNOWAIT);
    if (stopped.si_pid == guardian || ends_within(guardian_pidfd, std::chrono::milliseconds(1)))
      break;
  }
  ::kill(guardian, SIGCONT);
}

// nohup and a shell's background ignore some of those that stop a program, and what is ignored here
// would be there as well.
pid_t fork_with_default_signals() {
  constexpr int kSignals[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT};
  void (*before[std::size(kSignals)])(int);
  for (std::size_t i = 0; i < std::size(kSignals); ++i) before[i] = ::signal(kSignals[i], SIG_DFL);
  const pid_t pid = ::fork();
  if (pid == 0) return pid;
  for (std::size_t i = 0; i < std::size(kSignals); ++i) ::signal(kSignals[i], before[i]);
  return pid;
}

bool listens(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  return ::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
}

}  // namespace

Arena::Arena(std::string ddprun, std::string worker)
    : ddprun_(std::move(ddprun)),
      worker_(std::move(worker)),
      mark_("SOAK_FOLDER=" + folder_.path()) {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  fs::create_directory(folder_ / "tmp");
  fs::create_directory(folder_ / "work");
}

pid_t Arena::start(const Scenario& scenario) const {
  std::vector<std::string> words = command_of(scenario, worker_);
  words.insert(words.begin(), ddprun_);
  std::vector<std::string> variables{"PATH=/usr/bin:/bin", "TMPDIR=" + (folder_ / "tmp"), mark_};
  const auto argv = pointers(words);
  const auto env = pointers(variables);
  const std::string err = folder_ / "err", work = folder_ / "work";
  const pid_t pid = fork_with_default_signals();
  if (pid < 0) throw std::runtime_error("cannot fork");
  if (pid > 0) return pid;
  ::setpgid(0, 0);
  ::dup2(::open("/dev/null", O_RDWR), 0);
  ::dup2(0, 1);
  ::dup2(::open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), 2);
  if (::chdir(work.c_str()) == 0) ::execve(argv[0], argv.data(), env.data());
  ::_exit(99);
}

// Returns the launcher if it has lost its guardian, else 0.
pid_t Arena::disturb(const Scenario& scenario, pid_t guardian, int guardian_pidfd) const {
  if (scenario.disturbance == Disturbance::none ||
      ends_within(guardian_pidfd, scenario.disturbed_after))
    return 0;
  if (scenario.disturbance == Disturbance::stop_signal) {
    ::kill(guardian, scenario.signo);
    return 0;
  }
  if (scenario.disturbance == Disturbance::suspend) {
    suspend_and_continue(guardian, guardian_pidfd);
    return 0;
  }
  const pid_t launcher = launcher_of(guardian, guardian_pidfd);
  const bool orphan = scenario.disturbance == Disturbance::kill_guardian;
  const pid_t victim = orphan ? guardian : launcher;
  if (launcher > 0) ::kill(victim, SIGKILL);
  return orphan ? launcher : 0;
}

std::string Arena::watch(const Scenario& scenario, pid_t pid, End& end) {
  const UniqueFd guardian = pidfd_of(pid);
  const pid_t orphaned = disturb(scenario, pid, guardian.get());
  if (!ends_within(guardian.get(), std::chrono::milliseconds(kLimitMs))) return "it did not end";
  int status = 0;
  ::waitpid(pid, &status, 0);
  if (WIFEXITED(status)) end.code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) end.signal = WTERMSIG(status);
  siginfo_t ours{};
  if (orphaned > 0 &&
      ::waitid(P_PID, static_cast<id_t>(orphaned), &ours, WEXITED | WNOHANG | WNOWAIT) == 0) {
    const UniqueFd launcher = pidfd_of(orphaned);
    if (!ends_within(launcher.get(), std::chrono::milliseconds(kLimitMs)))
      return "the launcher did not end after its guardian";
    ::waitpid(orphaned, nullptr, 0);
  }
  end.err = read_file(folder_ / "err").value_or("");
  return "";
}

std::string Arena::left_processes() const {
  siginfo_t child{};
  if (::waitid(P_ALL, 0, &child, WEXITED | WNOHANG | WNOWAIT) == 0) {
    std::string text = "left behind:";
    for (const pid_t pid : process::children_of(::getpid()))
      text += " process " + std::to_string(pid) + " (" + ddprun::command_of(pid) + ")";
    return text;
  }
  const auto strays = pids_with_variable(mark_);
  return strays.empty() ? "" : "left behind: process " + std::to_string(strays.front());
}

// True when `text` names the run directory (a folder in `base`) in which `path` lies.
bool names_folder_of(const std::string& path, const std::string& base, const std::string& text) {
  if (path.size() <= base.size()) return false;
  return text.find(path.substr(0, path.find('/', base.size() + 1))) != std::string::npos;
}

// A launcher that was killed cannot remove its empty directories.
std::string Arena::left_files(const Scenario& scenario, const End& end) const {
  const bool was_killed =
      scenario.disturbance == Disturbance::kill_launcher && end.signal == SIGKILL;
  const std::string in_work = first_in(folder_ / "work", false);
  if (!in_work.empty()) return "left behind: " + in_work;
  const std::string base = folder_ / ("tmp/ddprun-" + std::to_string(::geteuid()));
  const std::string in_base = first_in(base, was_killed);
  // What ddprun names is kept on purpose: the stacks of those who outlived an abort.
  const bool named = names_folder_of(in_base, base, end.err);
  if (!in_base.empty() && !named) return "left behind: " + in_base;
  fs::remove_all(base);
  const std::string in_tmp = first_in(folder_ / "tmp", false);
  return in_tmp.empty() ? "" : "left behind: " + in_tmp;
}

std::string Arena::left_port() const {
  const auto port = read_file(folder_ / "port");
  if (!port || !listens(std::atoi(port->c_str()))) return "";
  return "somebody still listens on port " + *port;
}

void Arena::clear() {
  for (const pid_t pid : pids_with_variable(mark_))
    if (pid != ::getpid()) ::kill(pid, SIGKILL);
  // Those that have no environment become children of this process.
  do {
    for (const pid_t pid : process::descendants_of(::getpid())) ::kill(pid, SIGKILL);
  } while (::waitpid(-1, nullptr, 0) > 0 || errno == EINTR);
  for (const char* name : {"tmp", "work"})
    for (const auto& entry : fs::directory_iterator(folder_ / name)) fs::remove_all(entry);
  fs::remove(folder_ / "port");
}

RunResult Arena::run(const Scenario& scenario) {
  const pid_t pid = start(scenario);
  End end;
  std::string wrong = watch(scenario, pid, end);
  const std::string checks[] = {wrong.empty() ? wrong_with(scenario, end) : "", left_processes(),
                                left_files(scenario, end), left_port()};
  for (const std::string& found : checks)
    if (!found.empty()) wrong += (wrong.empty() ? "" : "; ") + found;
  if (!wrong.empty() && !end.err.empty()) wrong += "\n" + end.err;
  clear();
  return {std::move(end), std::move(wrong)};
}

}  // namespace ddprun::soak
