#include "launcher/doctor/question.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <utility>

namespace ddprun::doctor {
namespace {

constexpr std::size_t kLongest = 1 << 20;

using std::chrono::duration_cast;
using std::chrono::milliseconds;

// Returns the child's pid; in the child it calls `work` with the end that is to be written to.
pid_t child_of(const std::function<void(int)>& work, UniqueFd& from) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return -1;
  from.reset(ends[0]);
  const UniqueFd to(ends[1]);
  const pid_t child = ::fork();
  if (child != 0) return child;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  work(to.get());
  ::_exit(1);
}

void write_all(int to, const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t written = ::write(to, text.data() + done, text.size() - done);
    if (written <= 0) return;
    done += static_cast<std::size_t>(written);
  }
}

void become(const std::vector<std::string>& words, int to) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(nothing, STDERR_FILENO);
  ::dup2(to, STDOUT_FILENO);
  ::execv(arguments[0], arguments.data());
}

}  // namespace

Question::Question(const std::function<std::string()>& find_out) {
  child_ = child_of([&](int to) { write_all(to, find_out()); }, from_);
}

Question Question::program(const std::vector<std::string>& words) {
  Question question;
  question.child_ = child_of([&](int to) { become(words, to); }, question.from_);
  return question;
}

Question::Question(Question&& other) noexcept
    : child_(std::exchange(other.child_, -1)),
      from_(std::move(other.from_)),
      started_(other.started_),
      took_(other.took_) {}

Question::~Question() {
  if (child_ <= 0) return;
  ::kill(child_, SIGKILL);
  // A process that hangs in the kernel takes no signal; it must not take us along.
  for (int tries = 0; tries < 50 && ::waitpid(child_, nullptr, WNOHANG) == 0; ++tries)
    ::poll(nullptr, 0, 2);
}

std::optional<std::string> Question::answer(Clock::time_point deadline) {
  if (child_ <= 0) return std::nullopt;
  std::string text;
  for (;;) {
    const auto left = duration_cast<milliseconds>(deadline - Clock::now());
    pollfd end{from_.get(), POLLIN, 0};
    if (left.count() <= 0 || ::poll(&end, 1, static_cast<int>(left.count())) <= 0)
      return std::nullopt;
    char buffer[4096];
    const ssize_t got = ::read(from_.get(), buffer, sizeof buffer);
    if (got <= 0 || text.size() > kLongest) break;
    text.append(buffer, static_cast<std::size_t>(got));
  }
  took_ = duration_cast<milliseconds>(Clock::now() - started_);
  return text;
}

}  // namespace ddprun::doctor
