#include "worker_sdk/src/spawned_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <system_error>
#include <utility>

#include "worker_sdk/src/spawn_order.h"

namespace ddp::detail {
namespace {

[[noreturn]] void fail(const char* call) {
  throw std::system_error(errno, std::generic_category(), call);
}

std::vector<std::string> own_command_line() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> words;
  for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
  return words;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

struct Image {
  char* const* argv;
  char* const* envp;
  int order_fd, answer_fd;
  pid_t parent;
};

// In the child of a program that may have threads: only async-signal-safe calls.
[[noreturn]] void execute(const Image& image) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != image.parent) ::_exit(1);  // the parent died before it was asked for
  struct sigaction normal {};
  normal.sa_handler = SIG_DFL;
  ::sigaction(SIGTERM, &normal, nullptr);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::fcntl(image.order_fd, F_SETFD, 0);
  ::fcntl(image.answer_fd, F_SETFD, 0);
  ::execve("/proc/self/exe", image.argv, image.envp);
  std::array<char, 1 + sizeof(int)> answer{kNotExecuted};
  const int error = errno;
  std::memcpy(answer.data() + 1, &error, sizeof error);
  [[maybe_unused]] const auto written = ::write(image.answer_fd, answer.data(), answer.size());
  ::_exit(1);
}

// Its connections are closed before its end can be waited for, so that others may already have
// failed of it. The kernel's flag PF_EXITING, the seventh field behind the name.
bool is_ending(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  std::getline(file, line);
  const auto name_end = line.rfind(')');
  if (name_end == line.npos) return false;
  std::istringstream fields(line.substr(name_end + 1));
  std::string field;
  for (int i = 0; i < 6; ++i) fields >> field;
  unsigned long flags = 0;
  constexpr unsigned long kExiting = 4;
  return (fields >> flags) && (flags & kExiting) != 0;
}

// By the pidfd: the pid is another process's if somebody else in this program has waited for it.
void send_signal(const ddprun::UniqueFd& pidfd, int signal) {
  ::syscall(SYS_pidfd_send_signal, pidfd.get(), signal, nullptr, 0);
}

void wait_for_end(pid_t pid) {
  while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
}

std::string name_of_signal(int signal) {
  const char* name = ::sigabbrev_np(signal);
  return std::to_string(signal) + (name ? std::string(" (SIG") + name + ")" : "");
}

}  // namespace

SpawnedProcess::SpawnedProcess(int rank, int order_fd, std::vector<std::string> environment) {
  std::array<int, 2> pipe{};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0) fail("pipe");
  answer_.reset(pipe[0]);
  const ddprun::UniqueFd writing(pipe[1]);
  ::fcntl(answer_.get(), F_SETFL, O_NONBLOCK);
  const SpawnTicket ticket{::getpid(), rank, order_fd, writing.get()};
  environment.push_back(std::string(kSpawnVariable) + "=" + to_text(ticket));
  auto words = own_command_line();
  const auto argv = pointers(words), envp = pointers(environment);
  pid_ = ::fork();
  if (pid_ < 0) fail("fork");
  if (pid_ == 0) execute({argv.data(), envp.data(), order_fd, writing.get(), ticket.parent});
  pidfd_.reset(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
  if (pidfd_) return;
  const int error = errno;
  ::kill(pid_, SIGKILL);
  wait_for_end(pid_);
  errno = error;
  fail("pidfd_open");
}

SpawnedProcess::SpawnedProcess(SpawnedProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      pidfd_(std::move(other.pidfd_)),
      answer_(std::move(other.answer_)),
      said_(std::move(other.said_)),
      sent_(std::move(other.sent_)),
      status_(other.status_) {}

SpawnedProcess::~SpawnedProcess() {
  if (pid_ < 0 || status_) return;
  send_signal(pidfd_, SIGKILL);
  wait_for_end(pid_);
}

void SpawnedProcess::read_answer() {
  std::array<char, 4096> buffer;
  while (answer_) {
    const auto size = ::read(answer_.get(), buffer.data(), buffer.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 && errno == EAGAIN) return;
    if (size > 0) {
      said_.append(buffer.data(), static_cast<std::size_t>(size));
    } else {
      answer_.reset();
    }
  }
}

void SpawnedProcess::update() {
  int status = 0;
  if (running()) {
    const pid_t ended = ::waitpid(pid_, &status, WNOHANG);
    // Somebody else in this program has waited for it.
    if (ended < 0 && errno != EINTR) fail("waitpid for a spawned process");
    if (ended == pid_) status_ = status;
  }
  read_answer();  // behind the look at its end, so that nothing it said is missed
  if (status_) answer_.reset();
}

void SpawnedProcess::send(int signal) {
  // The flag is that of the first thread alone: others may keep the process for ever.
  if (!running() || (signal != SIGKILL && is_ending(pid_))) return;
  sent_.push_back(signal);
  send_signal(pidfd_, signal);
}

std::optional<std::string> SpawnedProcess::failure() const {
  const bool said_all = !answer_;
  if (said_all && said_.starts_with(kNotExecuted) && said_.size() == 1 + sizeof(int)) {
    int error = 0;
    std::memcpy(&error, said_.data() + 1, sizeof error);
    return std::string("could not be started: ") + std::strerror(error);
  }
  const bool started = said_.starts_with(kStarted);
  if (const auto text = reason(); said_all && text) return "failed: " + text->text;
  if (!status_ || (started && *status_ == 0)) return std::nullopt;
  std::string how = WIFSIGNALED(*status_)
                        ? "was ended by signal " + name_of_signal(WTERMSIG(*status_))
                        : "ended with exit code " + std::to_string(WEXITSTATUS(*status_));
  if (!started) how += " before it was called: main must begin with ddp::run_if_spawned()";
  return how;
}

std::optional<SpawnReason> SpawnedProcess::reason() const {
  return read_reason(said_.starts_with(kStarted) ? said_.substr(1) : said_);
}

std::int64_t SpawnedProcess::thrown_at() const {
  const auto text = reason();
  return text ? text->at : 0;
}

bool SpawnedProcess::ended_unasked() const {
  if (!status_ || *status_ == 0 || reason()) return false;
  if (!WIFSIGNALED(*status_)) return sent_.empty();
  return std::ranges::find(sent_, WTERMSIG(*status_)) == sent_.end();
}

}  // namespace ddp::detail
