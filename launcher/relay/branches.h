// The remote shells that lead from here to other hosts, each perhaps to several.
#pragma once

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "launcher/hosts/messages.h"
#include "launcher/relay/shell.h"

namespace ddprun::relay {

struct BranchesHooks {
  std::function<void(hosts::Message)> message;  // Out of hosts that were lost, too
  std::function<void()> changed;                // a shell has ended
};

// Used on the thread that runs `io`; must outlive the last handler.
class Branches {
 public:
  // `order` is for all hosts, its branch is not read. `environment` is that of the shells.
  Branches(boost::asio::io_context& io, hosts::Start order, std::vector<std::string> environment,
           BranchesHooks hooks);

  // Starts a shell for each of at most kWidth branches. Where the first host of a branch does not
  // answer, the next one takes its place.
  void start(const std::vector<hosts::Node>& nodes);
  // To all hosts that answer.
  void send(const hosts::Message& message);
  // On the way to host `index`; nothing where none leads there.
  void send_to(int index, const hosts::Message& message);
  // Nobody is waited for any more who has not answered.
  void give_up_silent();
  void hang_up();
  // Ends all shells.
  void kill();
  // No shell runs.
  bool over() const { return running_ == 0; }

 private:
  struct Branch {
    std::vector<hosts::Node> nodes;
    std::vector<int> over = {};  // indexes of those that have ended or are out
    std::unique_ptr<Shell> shell = {};
  };

  void open(std::vector<hosts::Node> nodes);
  void on_message(Branch& branch, hosts::Message message);
  void on_end(Branch& branch, bool answered, const std::string& why);
  void be_out(Branch& branch, const hosts::Node& node, bool before_hello, const std::string& why);

  boost::asio::io_context& io_;
  const hosts::Start order_;
  const hosts::RemoteShell shell_;
  const std::vector<std::string> environment_;
  BranchesHooks hooks_;
  std::vector<std::unique_ptr<Branch>> branches_;
  int running_ = 0;
  bool giving_up_ = false;
};

}  // namespace ddprun::relay
