// The user's stdout and stderr, where the lines of all hosts come out.
#pragma once

#include <array>
#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>
#include <string>

#include "launcher/hosts/flow.h"
#include "launcher/output/console.h"

namespace ddprun::relay {

struct ScreenHooks {
  std::function<void(const hosts::Credit&)> give;       // to the node
  std::function<void()> empty;                          // nothing waits any more
  std::function<void(const std::string& name)> closed;  // nobody reads "stdout" any more
};

// Used on the thread that runs `io`; must outlive the last handler.
class Screen {
 public:
  Screen(boost::asio::io_context& io, hosts::Debts debts, ScreenHooks hooks);

  // Gives credit back while there is room, and for what waits when there is.
  void show(const hosts::Lines& lines);
  // Whole lines of ddprun itself, to stderr.
  void note(const std::string& lines) { err_->append_note(lines); }
  // No reader is waited for any more: what has no room is not shown, and nodes get their credit,
  // for they end when they have written what they have.
  void hurry();
  bool empty() const { return out_->empty() && err_->empty(); }

 private:
  output::Console& console_of(int stream);
  void watch(output::Console& console, const char* name);
  void settle_when_drained(int stream);
  void settle_all(int stream);

  hosts::Debts debts_;
  ScreenHooks hooks_;
  std::shared_ptr<output::Console> out_;
  std::shared_ptr<output::Console> err_;  // out_ where both are the same file
  std::array<bool, 2> waiting_{};         // for room; stdout and stderr
  bool hurried_ = false;
};

}  // namespace ddprun::relay
