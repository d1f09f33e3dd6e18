// The remote shell that leads to one other host, and the ddprun behind it.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "launcher/hosts/failed_shell.h"
#include "launcher/hosts/messages.h"
#include "launcher/hosts/remote_command.h"
#include "launcher/output/console.h"
#include "launcher/output/line_splitter.h"
#include "launcher/relay/inlet.h"
#include "launcher/relay/pipes.h"

namespace ddprun::relay {

struct ShellHooks {
  std::function<void(hosts::Message)> message;
  // The connection is over: why, for the user. Once, and nothing follows.
  std::function<void(bool answered, const std::string& why)> end;
};

// Used on the thread that runs `io`; must outlive the last handler.
class Shell {
 public:
  // Nothing is done yet. Borrows `io` and `shell`.
  Shell(boost::asio::io_context& io, const hosts::RemoteShell& shell, hosts::Host host,
        ShellHooks hooks);

  // Starts it with `order` as the first thing that the other side reads. Gives it up where the
  // order is not answered within `patience`.
  void start(const hosts::Start& order, const std::vector<std::string>& environment,
             std::chrono::milliseconds patience);
  void send(const hosts::Message& message);
  // The other side sees that we are gone.
  void hang_up();
  // Ends the shell here: the host could not be told, or does not answer.
  void kill();
  bool runs() const { return child_.runs(); }
  // The order was: the first message has come.
  bool answered() const { return answered_; }

 private:
  void on_bytes(std::string_view bytes);
  void on_said(std::string_view lines);
  bool find_greeting();
  void give_up();
  void check_end();
  void finish();

  boost::asio::io_context& io_;
  const hosts::RemoteShell& shell_;
  hosts::Host host_;
  ShellHooks hooks_;
  ChildProcess child_;
  UniqueFd in_end_;
  std::shared_ptr<output::Console> in_;
  Inlet out_;
  Inlet err_;
  output::LineSplitter err_lines_;
  std::deque<std::string> said_;
  std::string before_greeting_;
  hosts::Decoder decoder_;
  boost::asio::steady_timer timer_;
  std::optional<process::WaitStatus> status_;
  int silent_for_ = 0;
  bool greeted_ = false;  // ddprun runs there
  bool answered_ = false;
  bool finishing_ = false;
  bool over_ = false;  // nothing is told any more
};

}  // namespace ddprun::relay
