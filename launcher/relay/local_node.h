// The ddprun of one node on this host, started by us.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "launcher/cli/environment.h"
#include "launcher/hosts/flow.h"
#include "launcher/hosts/messages.h"
#include "launcher/output/line_splitter.h"
#include "launcher/relay/inlet.h"
#include "launcher/relay/pipes.h"

namespace ddprun::relay {

struct LocalNodeOptions {
  hosts::Node node;
  int nodes = 1;
  std::string directory;
  std::vector<std::string> words;        // behind "ddprun"
  std::vector<std::string> environment;  // without what is about nodes
  std::string address;                   // of this host, where node 0 listens if nobody says where
  std::uint32_t credit = 0;              // of each stream
};

// For `node` as `order` has it, whatever branch that is for. `here`: the variables of this process.
LocalNodeOptions local_node_options(const hosts::Start& order, const hosts::Node& node,
                                    const cli::Environment& here, std::string address);

struct LocalNodeHooks {
  // Lines as far as there is credit, Listening, Report, and Ended or Out as the last.
  std::function<void(hosts::Message)> message;
};

// Used on the thread that runs `io`; must outlive the last handler.
class LocalNode {
 public:
  // Nothing is done yet. Borrows `io`.
  LocalNode(boost::asio::io_context& io, LocalNodeOptions options, LocalNodeHooks hooks);

  // Whether it could begin, without doing so: the folder is there.
  Result<void> check() const;
  // Starts ddprun, if this order is for it.
  void begin(const hosts::Begin& order);
  // Passed on; where nothing was begun it has ended by it.
  void signal(int signo);
  // More lines can be taken.
  void add(const hosts::Credit& credit);
  bool over() const { return over_; }
  int index() const { return options_.node.index; }

 private:
  std::vector<std::string> own_environment(const hosts::Begin& order) const;
  // One of the two streams in which workers' lines come.
  struct Stream {
    Stream(boost::asio::io_context& io, int fd, std::uint32_t credit)
        : number(fd), inlet(io), allowance(credit) {}

    int number;  // as a worker has it
    Inlet inlet;
    output::LineSplitter lines = output::LineSplitter();
    hosts::Allowance allowance;
    std::function<void()> go_on = {};  // waits for credit
  };

  void open(Stream& stream, UniqueFd fd);
  void on_told(std::string_view bytes);
  void on_end();
  void finish();
  void be_out(const std::string& why);

  boost::asio::io_context& io_;
  LocalNodeOptions options_;
  LocalNodeHooks hooks_;
  ChildProcess child_;
  Stream out_;
  Stream err_;
  Inlet channel_;
  hosts::Decoder decoder_;
  boost::asio::steady_timer timer_;
  std::optional<process::WaitStatus> status_;
  bool begun_ = false;
  bool over_ = false;
};

// Whoever has begun nothing yet ends by it.
bool asks_to_end(int signo);

}  // namespace ddprun::relay
