// Names to addresses without blocking the event loop, whatever the name server does.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "rendezvous/base/result.h"

namespace ddprun::client {

using Addresses = std::vector<boost::asio::ip::address>;

// One look-up. Used on the thread that runs `io` only.
//
// A literal needs no look-up. A name is looked up by a thread of its own that nobody waits for:
// the system's resolver cannot be interrupted, and it may take half a minute where a name server
// does not answer. Destroying this object forgets the thread, which then ends by itself.
class LookUp {
 public:
  // Each address once, in the order in which they should be tried. The Error is the resolver's
  // reason, "Name or service not known", or why it could not be asked.
  using Done = std::function<void(Result<Addresses>)>;

  // Borrows `io`. `done` is called once, from the event loop.
  LookUp(boost::asio::io_context& io, const std::string& host, Done done);

 private:
  struct Answer;

  void say(boost::asio::io_context& io, Result<Addresses> found);
  Result<void> ask(const std::string& host);
  void wait_for_answer();

  boost::asio::posix::stream_descriptor answered_;  // readable when the thread is done
  std::shared_ptr<Answer> answer_;
  std::shared_ptr<Done> done_;  // the callbacks hold it weakly
};

// The resolver knows that there is no such name; asking it again soon will not help.
bool is_no_such_name(const Error& error);

}  // namespace ddprun::client
