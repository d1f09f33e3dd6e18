#include "launcher/relay/outpost.h"

#include <signal.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "launcher/agent/interfaces.h"
#include "launcher/agent/signal_reader.h"
#include "launcher/cli/version.h"
#include "launcher/hosts/meeting_address.h"
#include "launcher/hosts/nodes.h"
#include "launcher/output/console.h"
#include "launcher/process/exit_codes.h"
#include "launcher/relay/branches.h"
#include "launcher/relay/local_node.h"
#include "rendezvous/base/printable.h"
#include "rendezvous/base/silence.h"

namespace ddprun::relay {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kLastWords{2000};    // for whoever has started us to read them
constexpr std::chrono::milliseconds kBeyondGrace{5000};  // for a node that nobody can ask any more
constexpr std::chrono::milliseconds kInsist{500};

std::string other_version(const std::string& of_order) {
  return "its ddprun is version " + std::string(cli::version()) + ", the one here " +
         printable(of_order) + "; install the same, or name another with --remote-ddprun";
}

class Outpost {
 public:
  Outpost(const cli::Environment& environment, guardian::Link link)
      : environment_(environment),
        console_(output::Console::make(io_, STDOUT_FILENO)),
        orders_(io_),
        guardian_(io_),
        signals_(io_, guardian::handled_signals(), [this](int signo) { on_signal(signo); }),
        timer_(io_),
        next_look_(io_),
        cut_off_(io_) {
    console_->append_raw(hosts::kGreeting);
    console_->on_empty([this] { check_end(); });
    console_->on_problem([this](int) { on_hung_up(); });
    orders_.open(UniqueFd(::dup(STDIN_FILENO)),
                 {.bytes = [this](std::string_view bytes) { on_orders(bytes); },
                  .end = [this] { on_hung_up(); },
                  .full = {}});
    guardian_.open(
        std::move(link.alive),
        {.bytes = [](std::string_view) {}, .end = [this] { on_guardian_lost(); }, .full = {}});
    guardian::outlive_guardian();
  }

  report::ExitDecision run() {
    io_.run();
    return {.code = refused_ ? process::kExitCannotWork : 0};
  }

 private:
  void on_orders(std::string_view bytes) {
    decoder_.feed(bytes);
    while (!hung_up_) {
      auto message = decoder_.next();
      if (!message)
        return refuse(decoder_.version().empty() || decoder_.version() == cli::version()
                          ? message.error().text
                          : other_version(decoder_.version()));
      if (!*message) return;
      obey(std::move(**message));
    }
  }

  void obey(hosts::Message message) {
    if (auto* start = std::get_if<hosts::Start>(&message)) return begin(std::move(*start));
    if (!node_) return;
    if (const auto* credit = std::get_if<hosts::Credit>(&message)) return pass(*credit);
    branches_->send(message);
    if (const auto* order = std::get_if<hosts::Begin>(&message)) node_->begin(*order);
    const auto* signal = std::get_if<hosts::Signal>(&message);
    if (signal != nullptr) stop(signal->signo);
    // Ctrl-Z stops whoever gives the orders as well, after some more of them.
    if (signal != nullptr) asleep_ = signal->signo == SIGTSTP;
    silence_->heard(Clock::now());
  }

  void pass(const hosts::Credit& credit) {
    if (credit.index == node_->index()) return node_->add(credit);
    branches_->send_to(credit.index, credit);
  }

  // Who has lost its power, or the way to us, closes nothing.
  void watch_silence() {
    next_look_.expires_at(silence_->next_look());
    next_look_.async_wait([this](boost::system::error_code canceled) {
      if (canceled) return;
      if (silence_->is_too_long(Clock::now()) && !asleep_) return on_hung_up();
      watch_silence();
    });
  }

  void stop(int signo) {
    if (branches_ && asks_to_end(signo)) branches_->give_up_silent();
    if (node_) node_->signal(signo);
    check_end();
  }

  void tell(const hosts::Message& message) {
    console_->append_raw(hosts::encode(message));
    check_end();
  }

  void begin(hosts::Start order) {
    if (node_ || order.branch.empty()) return;
    const hosts::Node self = order.branch.front();
    const std::string address = hosts::meeting_address(
        self.host.name, std::string(environment_.get("SSH_CONNECTION").value_or("")),
        agent::default_address());
    node_.emplace(io_, local_node_options(order, self, environment_, address),
                  LocalNodeHooks{.message = [this](const auto& message) { tell(message); }});
    const std::vector<hosts::Node> others(order.branch.begin() + 1, order.branch.end());
    branches_.emplace(io_, order, environment_.entries(),
                      BranchesHooks{.message = [this](const auto& message) { tell(message); },
                                    .changed = [this] { check_end(); }});
    silence_.emplace(Clock::now(), std::chrono::milliseconds(order.silence_ms));
    grace_ = std::chrono::milliseconds(order.grace_ms);
    watch_silence();
    answer(order, self);
    branches_->start(others);
  }

  void answer(const hosts::Start& order, const hosts::Node& self) {
    std::string wrong;
    if (order.version != cli::version())
      wrong = other_version(order.version);
    else if (const auto possible = node_->check(); !possible)
      wrong = possible.error().text;
    if (wrong.empty()) return tell(hosts::Hello{self.index});
    out_ = true;
    tell(hosts::Out{.index = self.index, .before_hello = true, .why = wrong});
  }

  void refuse(const std::string& why) {
    refused_ = true;
    const std::string line = "ddprun: " + why + "\n";
    [[maybe_unused]] const ssize_t told = ::write(STDERR_FILENO, line.data(), line.size());
    on_hung_up();
  }

  void on_signal(int signo) {
    if (signo == SIGCHLD || signo == SIGTSTP || signo == SIGCONT) return;
    if (!node_) return on_hung_up();
    branches_->send(hosts::Signal{signo});
    stop(signo);
  }

  // Nobody hears us any more, and nobody could stop us later.
  void on_hung_up() {
    if (std::exchange(hung_up_, true)) return;
    if (branches_) branches_->send(hosts::Signal{SIGTERM});
    stop(SIGTERM);
    insist(Clock::now() + grace_ + kBeyondGrace);
  }

  // After a Ctrl-Z nobody hears that signal, and who is about to fall asleep not even the next one.
  void insist(Clock::time_point limit) {
    if (!node_ || is_over()) return;
    if (Clock::now() >= limit) die();
    branches_->send(hosts::Signal{SIGCONT});
    node_->signal(SIGCONT);
    cut_off_.expires_after(kInsist);
    cut_off_.async_wait([this, limit](boost::system::error_code canceled) {
      if (!canceled) insist(limit);
    });
  }

  // The guardian kills whatever a launcher leaves behind that was killed.
  void die() {
    node_->signal(SIGKILL);
    ::kill(::getpid(), SIGKILL);
  }

  // Only SIGKILL ends it before us. Whoever gives the orders is to hear of that, not of the signal
  // by which the workers end.
  void on_guardian_lost() {
    if (node_ && !node_->over() && !out_)
      console_->append_raw(hosts::encode(hosts::Out{.index = node_->index(),
                                                    .before_hello = false,
                                                    .why = std::string(hosts::kKilledThere)}));
    on_hung_up();
  }

  bool is_over() const {
    if (!node_) return hung_up_;
    return (node_->over() || out_) && branches_->over();
  }

  void check_end() {
    if (!is_over() || ending_) return;
    ending_ = true;
    boost::asio::post(io_, [this] { flush(); });
  }

  void flush() {
    if (console_->empty() || hung_up_) return io_.stop();
    console_->on_empty([this] { io_.stop(); });
    timer_.expires_after(kLastWords);
    timer_.async_wait([this](boost::system::error_code) { io_.stop(); });
  }

  const cli::Environment& environment_;
  boost::asio::io_context io_;
  std::shared_ptr<output::Console> console_;
  Inlet orders_;
  Inlet guardian_;
  agent::SignalReader signals_;
  boost::asio::steady_timer timer_;
  boost::asio::steady_timer next_look_;  // at silence_
  boost::asio::steady_timer cut_off_;
  std::optional<Silence> silence_;  // of whoever gives orders
  std::chrono::milliseconds grace_{0};
  hosts::Decoder decoder_;
  std::optional<LocalNode> node_;
  std::optional<Branches> branches_;
  bool asleep_ = false;
  bool out_ = false;  // this node takes no part
  bool hung_up_ = false;
  bool refused_ = false;
  bool ending_ = false;
};

}  // namespace

report::ExitDecision serve(const cli::Environment& environment, guardian::Link link) {
  return Outpost(environment, std::move(link)).run();
}

}  // namespace ddprun::relay
