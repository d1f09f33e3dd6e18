#include "launcher/relay/coordinator.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <climits>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "launcher/agent/interfaces.h"
#include "launcher/agent/signal_reader.h"
#include "launcher/cli/version.h"
#include "launcher/hosts/job.h"
#include "launcher/hosts/meeting_address.h"
#include "launcher/hosts/nodes.h"
#include "launcher/output/prefix.h"
#include "launcher/process/exit_codes.h"
#include "launcher/relay/branches.h"
#include "launcher/relay/local_node.h"
#include "launcher/relay/screen.h"
#include "rendezvous/base/read_file.h"

namespace ddprun::relay {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr milliseconds kSilence{5'000};       // then it is said who is waited for
constexpr milliseconds kSamePress{100};       // `timeout` and Slurm deliver twice
constexpr milliseconds kBeyondGrace{10'000};  // for hosts that have not ended within their grace
constexpr milliseconds kGoodbye{1'000};       // for remote shells to end by themselves
constexpr milliseconds kLines{1'000};         // for the last lines of hosts that say how it ended
constexpr milliseconds kSuspend{50};          // for the order to be on its way
constexpr milliseconds kWithoutGuardian{500};

bool contains(const std::vector<int>& signals, int signo) {
  return std::ranges::find(signals, signo) != signals.end();
}

std::vector<int> signals_to_read(const cli::JobSpec& spec) {
  std::vector<int> signals = guardian::handled_signals();
  for (const int signo : spec.signals_to_handle)
    if (!contains(signals, signo)) signals.push_back(signo);
  return signals;
}

std::string host_name() {
  char name[HOST_NAME_MAX + 1] = {};
  return ::gethostname(name, sizeof name - 1) == 0 ? name : "";
}

// Needs no remote shell.
std::vector<bool> local_ones(const std::vector<hosts::Node>& nodes) {
  const std::string full = host_name();
  std::vector<std::string> names{"localhost", "127.0.0.1", "::1"};
  if (!full.empty()) names.insert(names.end(), {full, full.substr(0, full.find('.'))});
  std::ranges::move(agent::addresses_of(agent::interfaces()), std::back_inserter(names));
  std::vector<bool> local;
  for (const hosts::Node& node : nodes)
    local.push_back(node.host.user.empty() && !node.host.port &&
                    std::ranges::find(names, node.host.name) != names.end());
  return local;
}

class Coordinator {
 public:
  Coordinator(hosts::Job job, const cli::JobSpec& spec, const cli::Environment& environment,
              guardian::Link link)
      : job_(std::move(job)),
        spec_(spec),
        environment_(environment),
        nodes_(hosts_of(job_), job_.endpoint_given),
        screen_(io_, hosts::Debts(job_.order.nodes, job_.order.credit), screen_hooks()),
        guardian_fd_(link.alive.get()),
        guardian_(io_),
        signals_(io_, signals_to_read(spec), [this](int signo) { on_signal(signo); }),
        notice_(io_),
        failure_notice_(io_),
        limit_(io_),
        ping_(io_),
        branches_(io_, job_.order, environment.entries(),
                  {.message = [this](const auto& message) { on_message(message); },
                   .changed =
                       [this] {
                         check_over();
                         if (ending_) end_if_done();
                       }}) {
    guardian_.open(
        std::move(link.alive),
        {.bytes = [](std::string_view) {}, .end = [this] { on_guardian_lost(); }, .full = {}});
    guardian::outlive_guardian();
  }

  report::ExitDecision run() {
    const std::vector<bool> is_local = local_ones(job_.nodes);
    std::vector<hosts::Node> others;
    for (const hosts::Node& node : job_.nodes)
      if (!is_local[static_cast<std::size_t>(node.index)]) others.push_back(node);
    for (const hosts::Node& node : job_.nodes)
      if (is_local[static_cast<std::size_t>(node.index)]) add_local(node, own_address(others));
    branches_.start(others);
    say_who_is_silent();
    ping();
    io_.run();
    return decision_;
  }

 private:
  static std::vector<hosts::Host> hosts_of(const hosts::Job& job) {
    std::vector<hosts::Host> hosts;
    for (const hosts::Node& node : job.nodes) hosts.push_back(node.host);
    return hosts;
  }

  // Loopback is enough, and works everywhere, where all hosts are this one.
  static std::string own_address(const std::vector<hosts::Node>& others) {
    const bool all_here = std::ranges::all_of(
        others, [](const hosts::Node& node) { return hosts::is_loopback(node.host.name); });
    return all_here ? "127.0.0.1"
                    : hosts::meeting_address("this-host", "", agent::default_address());
  }

  void add_local(const hosts::Node& node, const std::string& address) {
    auto& local = locals_.emplace_back(std::make_unique<LocalNode>(
        io_, local_node_options(job_.order, node, environment_, address),
        LocalNodeHooks{.message = [this](const auto& message) { on_message(message); }}));
    // From the event loop: the others are not there yet.
    boost::asio::post(io_, [this, index = node.index, &local = *local] {
      const auto possible = local.check();
      if (possible)
        on_message(hosts::Hello{index});
      else
        on_message(hosts::Out{index, true, possible.error().text});
    });
  }

  ScreenHooks screen_hooks() {
    return {.give = [this](const hosts::Credit& credit) { give(credit); },
            .empty =
                [this] {
                  if (ending_) end_if_done();
                },
            // `| head` is no reason to end hours of training, and no secret either.
            .closed =
                [this](const std::string& name) {
                  note("nobody reads " + name +
                       " any more; what follows is not shown, the job goes on");
                }};
  }

  void give(const hosts::Credit& credit) {
    for (const auto& local : locals_)
      if (local->index() == credit.index) return local->add(credit);
    branches_.send_to(credit.index, credit);
  }

  void note(const std::string& text) {
    if (spec_.verbosity != cli::Verbosity::quiet) screen_.note("ddprun: " + text + "\n");
  }

  void on_message(const hosts::Message& message) {
    if (const auto* lines = std::get_if<hosts::Lines>(&message)) return screen_.show(*lines);
    if (const auto* hello = std::get_if<hosts::Hello>(&message)) act(nodes_.on(*hello));
    if (const auto* out = std::get_if<hosts::Out>(&message)) act(nodes_.on(*out));
    if (const auto* listening = std::get_if<hosts::Listening>(&message)) act(nodes_.on(*listening));
    if (const auto* ended = std::get_if<hosts::Ended>(&message)) act(nodes_.on(*ended));
    if (const auto* report = std::get_if<hosts::Report>(&message)) nodes_.on(*report);
    check_over();
    say_failure_soon();
  }

  void say(const std::vector<std::string>& lines) {
    for (const std::string& line : lines)
      if (said_.insert(line).second) screen_.note(line);
  }

  // Lines that nobody reads keep hosts from ending.
  void say_failure_soon() {
    if (ending_ || nodes_.failure().empty() || std::exchange(failure_known_, true)) return;
    failure_notice_.expires_after(kLines);
    failure_notice_.async_wait([this](boost::system::error_code canceled) {
      if (!canceled && !ending_) say(nodes_.failure());
    });
  }

  void act(const hosts::Action& action) {
    using Kind = hosts::Action::Kind;
    if (action.kind == Kind::none) return;
    notice_.cancel();
    if (action.kind == Kind::stop) return stop(SIGTERM);
    branches_.send(action.begin);
    for (const auto& local : locals_) local->begin(action.begin);
  }

  void send_signal(int signo) {
    branches_.send(hosts::Signal{signo});
    for (const auto& local : locals_) local->signal(signo);
  }

  // Who has not begun knows no signals but this one.
  void stop(int signo) {
    send_signal(nodes_.begun() ? signo : SIGTERM);
    branches_.give_up_silent();
    if (std::exchange(stopping_, true)) return;
    limit_.expires_after(spec_.shutdown_timeout + kBeyondGrace);
    limit_.async_wait([this](boost::system::error_code canceled) {
      if (!canceled && !nodes_.over()) give_up("it has not ended in time: " + nodes_.running());
    });
  }

  // Nobody knows what is still there; whoever is cut off stops its workers by itself.
  void give_up(const std::string& why) {
    note(why + "; the connection is cut, which stops whatever is there");
    branches_.kill();
    for (const auto& local : locals_) local->signal(SIGKILL);
  }

  void on_signal(int signo) {
    if (signo == SIGCHLD) return;
    if (signo == SIGCONT) return send_signal(signo);
    if (signo == SIGTSTP) return suspend();
    if (!contains(spec_.signals_to_handle, signo)) return send_signal(signo);
    const auto now = Clock::now();
    if (stops_ > 0 && now - last_stop_ < kSamePress) return;
    last_stop_ = now;
    nodes_.on_stop_signal(signo);
    if (++stops_ > 2 && !nodes_.over())
      return give_up("a third stop signal, and not all hosts have ended: " + nodes_.running());
    stop(signo);
    screen_.hurry();
    check_over();
  }

  void suspend() {
    send_signal(SIGTSTP);
    auto timer = std::make_shared<boost::asio::steady_timer>(io_, kSuspend);
    timer->async_wait(
        [this, timer](boost::system::error_code) { guardian::stop_until_continued(guardian_fd_); });
  }

  void on_guardian_lost() {
    nodes_.on_stop_signal(SIGTERM);
    stop(SIGTERM);
    limit_.expires_after(kWithoutGuardian);
    limit_.async_wait([this](boost::system::error_code) { io_.stop(); });
  }

  void ping() {
    ping_.expires_after(job_.ping_interval);
    ping_.async_wait([this](boost::system::error_code canceled) {
      if (canceled) return;
      branches_.send(hosts::Ping{});
      ping();
    });
  }

  void say_who_is_silent() {
    notice_.expires_after(kSilence);
    notice_.async_wait([this](boost::system::error_code canceled) {
      if (!canceled && nodes_.any_silent())
        note("still waiting for an answer of " + nodes_.silent());
    });
  }

  void check_over() {
    if (!nodes_.over() || ending_) return;
    ending_ = true;
    notice_.cancel();
    failure_notice_.cancel();
    const hosts::Ending ending = nodes_.ending();
    say(ending.lines);
    decision_ = {.code = ending.code, .by_signal = ending.by_signal};
    boost::asio::post(io_, [this] { say_goodbye(); });
  }

  // The shells end when those behind them have; whoever keeps one open is not waited for long. A
  // slow reader of our output is, unless the user wants an end.
  void say_goodbye() {
    branches_.hang_up();
    limit_.expires_after(kGoodbye);
    limit_.async_wait([this](boost::system::error_code canceled) {
      if (canceled) return;
      late_ = true;
      end_if_done();
    });
    end_if_done();
  }

  void end_if_done() {
    const bool written = screen_.empty();
    if (late_ ? written || stops_ > 0 : written && branches_.over()) io_.stop();
  }

  const hosts::Job job_;
  const cli::JobSpec& spec_;
  const cli::Environment& environment_;
  boost::asio::io_context io_;
  hosts::Nodes nodes_;
  Screen screen_;
  int guardian_fd_;
  Inlet guardian_;
  agent::SignalReader signals_;
  boost::asio::steady_timer notice_;
  boost::asio::steady_timer failure_notice_;
  boost::asio::steady_timer limit_;
  boost::asio::steady_timer ping_;
  Branches branches_;
  std::vector<std::unique_ptr<LocalNode>> locals_;
  std::set<std::string> said_;  // of how it ends
  report::ExitDecision decision_;
  Clock::time_point last_stop_;
  int stops_ = 0;
  bool stopping_ = false;
  bool failure_known_ = false;
  bool ending_ = false;
  bool late_ = false;
};

void say(int fd, const std::string& text) {
  [[maybe_unused]] const ssize_t written = ::write(fd, text.data(), text.size());
}

report::ExitDecision refuse(const std::string& text) {
  say(STDERR_FILENO, "ddprun: " + text + "\n");
  return {.code = process::kExitRefused};
}

hosts::Here look_around(const cli::JobSpec& spec) {
  std::error_code ignored;
  const bool terminal = ::isatty(STDOUT_FILENO) == 1;
  return {.version = std::string(cli::version()),
          .directory = std::filesystem::current_path(ignored).string(),
          .own_path = std::filesystem::read_symlink("/proc/self/exe", ignored).string(),
          .console = {.terminal = terminal,
                      .colors = output::uses_color(spec.color, terminal, std::getenv("NO_COLOR"),
                                                   std::getenv("TERM"))}};
}

}  // namespace

report::ExitDecision coordinate(const cli::Scan& scan, const cli::JobSpec& spec,
                                const cli::Environment& environment, guardian::Link link) {
  std::string hostfile;
  if (spec.hosts.file) {
    const auto text = read_file(*spec.hosts.file);
    if (!text)
      return refuse(spec.hosts.label + ": '" + *spec.hosts.file +
                    "' cannot be read; write the path of a file with one host a line");
    hostfile = *text;
  }
  const hosts::Here here = look_around(spec);
  if (here.directory.empty())
    return refuse(
        "the folder in which you are is not there any more, and the job runs in it; cd to "
        "one that all hosts have");
  auto job = hosts::make_job(scan, spec, environment, hostfile, here);
  if (!job) return refuse(job.error().text);
  if (spec.dry_run) {
    say(STDOUT_FILENO, hosts::dry_run_text(*job, local_ones(job->nodes)));
    return {};
  }
  return Coordinator(std::move(*job), spec, environment, std::move(link)).run();
}

}  // namespace ddprun::relay
