// The store that a node hosts, with an empty key space in every round.
#pragma once

#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "launcher/cli/job_spec.h"
#include "launcher/output/output.h"
#include "rendezvous/base/result.h"
#include "rendezvous/server/server.h"

namespace ddprun::agent {

// Where the store of a job on one node listens: the address and port of --master-addr and
// --master-port, as far as they concern one node.
server::ServerOptions store_options(const cli::JobSpec& spec);

// Used on the thread that runs `io` only.
class StoreHost {
 public:
  // Borrows `io` and `output`. Nothing listens yet; the log of `options` is set here.
  StoreHost(boost::asio::io_context& io, server::ServerOptions options, output::Output& output);

  // Gives a round its store, which is empty, and returns the port: that of the options in every
  // round, else one that the system chooses, another one each time. The clients of the round before
  // are closed. Only the first call can fail with a port given.
  Result<std::uint16_t> open_round();
  // As open_round(), but the clients of the rounds before are served until close_earlier_rounds():
  // they may be workers of other nodes that are still stopping. With a port given they are closed
  // as by open_round().
  Result<std::uint16_t> open_next_round();
  // Of the round's store, if its options say that it is guarded: see server::Server::admit().
  void admit(const std::vector<std::string>& addresses);
  void close_earlier_rounds() { earlier_.clear(); }
  // Connections to the stores of all rounds.
  std::uint64_t clients() const;
  // The port is free for others at once; the workers that are connected can go on.
  void stop_listening();
  // Listens and stops at once, or says why a store cannot listen.
  static Result<void> try_to_listen(boost::asio::io_context& io, const cli::JobSpec& spec);
  // Closes the port and every connection.
  void close();

 private:
  Result<std::unique_ptr<server::Server>> listen();

  boost::asio::io_context& io_;
  const server::ServerOptions options_;
  output::Output& output_;
  std::unique_ptr<server::Server> server_;
  std::vector<std::unique_ptr<server::Server>> earlier_;
};

}  // namespace ddprun::agent
