#include "launcher/agent/asked_tool.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstring>
#include <optional>
#include <utility>

#include "launcher/process/program.h"
#include "launcher/process/spawn.h"
#include "launcher/process/wait.h"
#include "rendezvous/base/first_line.h"
#include "rendezvous/base/span_text.h"

namespace ddprun::agent {
namespace {

using boost::asio::posix::stream_descriptor;
using boost::system::error_code;
using Kind = ToolFailure::Kind;

using Bytes = std::array<char, 4096>;

constexpr std::size_t kMostBytes = 65'536;
constexpr int kPatienceAfterKillMs = 200;

}  // namespace

struct AskedTool::Running : std::enable_shared_from_this<Running> {
  Running(boost::asio::io_context& io, std::string the_name, Done the_done)
      : name(std::move(the_name)), done(std::move(the_done)), output(io), ended(io), timer(io) {}

  void start(const std::vector<std::string>& words, const cli::Environment& environment);
  void wait_until(std::chrono::milliseconds limit);
  void read();
  void keep(const Bytes& bytes, std::size_t got);
  void wait_for_end();
  void conclude(const std::optional<process::WaitStatus>& status);
  void read_what_is_there();
  void fail(ToolFailure::Kind kind, const std::string& what);
  void finish(ToolAnswer answer);
  void stop();

  std::string name;
  Done done;
  pid_t pid = 0;  // 0: not running
  stream_descriptor output;
  stream_descriptor ended;  // a pidfd
  boost::asio::steady_timer timer;
  Bytes buffer{};  // read() has it
  std::string text;
};

void AskedTool::Running::start(const std::vector<std::string>& words,
                               const cli::Environment& environment) {
  const auto program =
      process::find_program(name, environment.get("PATH").value_or(process::kDefaultPath));
  if (program.error != 0)
    return fail(Kind::not_there, std::string(" is not there: ") + strerror(program.error));
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return fail(Kind::cannot_start, std::string(" cannot be started: pipe: ") + strerror(errno));
  output.assign(ends[0]);
  output.non_blocking(true);
  const UniqueFd writing(ends[1]);
  const UniqueFd null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  auto child = process::spawn({.path = program.path,
                               .argv = words,
                               .env = environment.entries(),
                               .in = null.get(),
                               .out = writing.get(),
                               .err = writing.get()},
                              {.launcher = ::getpid()});
  if (!child)
    return fail(Kind::cannot_start,
                std::string(" cannot be started: ") + strerror(child.error().error));
  pid = child->pid;
  ended.assign(child->pidfd.release());
  read();
  wait_for_end();
}

void AskedTool::Running::wait_until(std::chrono::milliseconds limit) {
  timer.expires_after(limit);
  timer.async_wait([self = shared_from_this(), limit](error_code canceled) {
    if (!canceled) self->fail(Kind::no_answer, " gave no answer within " + span_text(limit));
  });
}

// Reads on though it is too much: a program that nobody reads cannot end.
void AskedTool::Running::read() {
  output.async_read_some(boost::asio::buffer(buffer),
                         [self = shared_from_this()](error_code failed, std::size_t got) {
                           if (!self->done) return;
                           self->keep(self->buffer, got);
                           if (!failed && self->pid != 0) self->read();
                         });
}

void AskedTool::Running::keep(const Bytes& bytes, std::size_t got) {
  text.append(bytes.data(), std::min(got, kMostBytes - text.size()));
}

// Not for the end of what it writes: whatever it has started may hold that open for ever.
void AskedTool::Running::wait_for_end() {
  ended.async_wait(stream_descriptor::wait_read, [self = shared_from_this()](error_code canceled) {
    if (canceled || !self->done) return;
    const auto status = process::reap(self->ended.native_handle());
    self->pid = 0;
    // A read may be through already, with its handler queued; ours comes behind that.
    error_code ignored;
    self->output.cancel(ignored);
    boost::asio::post(self->timer.get_executor(), [self, status] { self->conclude(status); });
  });
}

void AskedTool::Running::conclude(const std::optional<process::WaitStatus>& status) {
  if (!done) return;
  read_what_is_there();
  if (status && status->success()) return finish({boost::system::in_place_value, std::move(text)});
  fail(Kind::failed, " ended with " + std::to_string(status ? status->shell_code() : 0) + ": " +
                         first_line(text));
}

// More than the kernel keeps of a pipe comes from somebody else.
void AskedTool::Running::read_what_is_there() {
  error_code failed;
  Bytes last{};
  for (std::size_t all = 0; !failed && all < kMostBytes;) {
    const std::size_t got = output.read_some(boost::asio::buffer(last), failed);
    keep(last, got);
    all += got;
  }
}

void AskedTool::Running::fail(ToolFailure::Kind kind, const std::string& what) {
  finish(ToolFailure{.kind = kind, .text = name + what, .output = std::move(text)});
}

void AskedTool::Running::finish(ToolAnswer answer) {
  Done tell = std::exchange(done, nullptr);
  stop();
  if (!tell) return;
  // Not from inside the constructor, and not where `tell` destroys what calls it.
  boost::asio::post(timer.get_executor(),
                    [self = weak_from_this(), tell = std::move(tell), answer = std::move(answer)] {
                      if (!self.expired()) tell(answer);
                    });
}

void AskedTool::Running::stop() {
  done = nullptr;
  timer.cancel();
  if (pid != 0) {
    ::kill(-pid, SIGKILL);
    pollfd end{ended.native_handle(), POLLIN, 0};
    if (::poll(&end, 1, kPatienceAfterKillMs) > 0) process::reap(ended.native_handle());
    pid = 0;
  }
  error_code ignored;
  output.close(ignored);
  ended.close(ignored);
}

AskedTool::AskedTool(boost::asio::io_context& io, const std::vector<std::string>& words,
                     const cli::Environment& environment, std::chrono::milliseconds limit,
                     Done done)
    : running_(std::make_shared<Running>(io, words.front(), std::move(done))) {
  running_->wait_until(limit);
  running_->start(words, environment);
}

AskedTool::~AskedTool() {
  running_->stop();
}

}  // namespace ddprun::agent
