#include "launcher/relay/shell.h"

#include <signal.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <cstdint>
#include <utility>

#include "launcher/cli/environment.h"
#include "launcher/process/program.h"

namespace ddprun::relay {
namespace {

constexpr std::size_t kLinesKept = 20;
constexpr std::size_t kMostBeforeGreeting = std::size_t{64} << 10;  // of login scripts
constexpr std::chrono::milliseconds kDrain{200};  // others may hold the pipes of a shell that ended

}  // namespace

Shell::Shell(boost::asio::io_context& io, const hosts::RemoteShell& shell, hosts::Host host,
             ShellHooks hooks)
    : io_(io),
      shell_(shell),
      host_(std::move(host)),
      hooks_(std::move(hooks)),
      child_(io),
      out_(io),
      err_(io),
      timer_(io) {}

void Shell::start(const hosts::Start& order, const std::vector<std::string>& environment,
                  std::chrono::milliseconds patience) {
  const auto fail = [this](const std::string& why) {
    over_ = true;
    boost::asio::post(io_, [this, why] { hooks_.end(false, why); });
  };
  const auto words = hosts::remote_command(shell_, host_);
  const cli::Environment variables(environment);
  const auto program =
      process::find_program(words.front(), variables.get("PATH").value_or(process::kDefaultPath));
  if (program.path.empty())
    return fail("'" + words.front() +
                "' was not found on PATH; install openssh-client, or name "
                "another command with --rsh");
  auto in = make_pipe();
  auto out = make_pipe();
  auto err = make_pipe();
  if (!in || !out || !err) return fail("there is no room for its pipes");
  process::SpawnRequest request{.path = program.path, .argv = words, .env = environment};
  request.in = in->read.get();
  request.out = out->write.get();
  request.err = err->write.get();
  const auto started = child_.start(request, [this](process::WaitStatus status) {
    status_ = status;
    timer_.expires_after(kDrain);
    timer_.async_wait([this](boost::system::error_code canceled) {
      if (!canceled) finish();
    });
    check_end();
  });
  if (!started) return fail(started.error().text);
  in_end_ = std::move(in->write);
  in_ = output::Console::make(io_, in_end_.get());
  in_->append_raw(hosts::encode(order));
  out_.open(std::move(out->read), {.bytes = [this](std::string_view bytes) { on_bytes(bytes); },
                                   .end = [this] { check_end(); },
                                   .full = {}});
  err_.open(std::move(err->read), {.bytes =
                                       [this](std::string_view bytes) {
                                         err_lines_.feed(
                                             bytes, [this](std::string_view l) { on_said(l); });
                                       },
                                   .end = [this] { check_end(); },
                                   .full = {}});
  timer_.expires_after(patience);
  timer_.async_wait([this, patience](boost::system::error_code canceled) {
    if (canceled || answered_) return;
    silent_for_ = static_cast<int>(std::max<std::int64_t>(
        1, std::chrono::duration_cast<std::chrono::seconds>(patience).count()));
    kill();
  });
}

void Shell::send(const hosts::Message& message) {
  if (in_) in_->append_raw(hosts::encode(message));
}

void Shell::hang_up() {
  if (in_) in_->close();
  in_.reset();
  in_end_.reset();
}

void Shell::kill() {
  child_.signal(SIGKILL);
}

// Login scripts may write to stdout before ddprun does.
bool Shell::find_greeting() {
  const std::size_t at = before_greeting_.find(hosts::kGreeting);
  if (at == std::string::npos) {
    if (before_greeting_.size() > kMostBeforeGreeting)
      before_greeting_.erase(0, before_greeting_.size() - hosts::kGreeting.size());
    return false;
  }
  decoder_.feed(std::string_view(before_greeting_).substr(at + hosts::kGreeting.size()));
  before_greeting_.clear();
  said_.clear();
  greeted_ = true;
  return true;
}

void Shell::on_bytes(std::string_view bytes) {
  if (over_) return;
  if (greeted_) {
    decoder_.feed(bytes);
  } else {
    before_greeting_ += bytes;
    if (!find_greeting()) return;
  }
  for (;;) {
    auto message = decoder_.next();
    if (!message) {
      on_said(message.error().text + "\n");
      return kill();
    }
    if (!*message) return;
    if (!std::exchange(answered_, true) && !status_) timer_.cancel();
    hooks_.message(std::move(**message));
  }
}

void Shell::on_said(std::string_view lines) {
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    said_.emplace_back(lines.substr(0, end));
    lines.remove_prefix(std::min(end + 1, lines.size()));
    if (said_.size() > kLinesKept) said_.pop_front();
  }
}

void Shell::check_end() {
  if (status_ && !out_.is_open() && !err_.is_open()) finish();
}

void Shell::finish() {
  if (std::exchange(finishing_, true)) return;
  out_.drain_now();
  err_.drain_now();
  over_ = true;
  timer_.cancel();
  err_lines_.finish([this](std::string_view lines) { on_said(lines); });
  hang_up();
  std::vector<std::string> said(said_.begin(), said_.end());
  // A host where a login script failed may have said so on stdout.
  if (!greeted_ && said.empty() && !before_greeting_.empty()) said.push_back(before_greeting_);
  hooks_.end(answered_, hosts::why({.shell = shell_,
                                    .host = host_,
                                    .status = *status_,
                                    .said = std::move(said),
                                    .silent_for = silent_for_,

                                    .greeted = greeted_,
                                    .before_hello = !answered_}));
}

}  // namespace ddprun::relay
