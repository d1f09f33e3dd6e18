// Asks etcd, by HTTP, whichever of its members answers.
#pragma once

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "rendezvous/base/endpoint.h"
#include "rendezvous/base/result.h"
#include "rendezvous/etcd/messages.h"

namespace ddprun::etcd {

struct ClientOptions {
  std::vector<Endpoint> members;
  std::chrono::milliseconds limit{1'000};  // of one question to one member, name look-up included
  std::size_t max_answer_bytes = 64 << 20;
};

// Used on the thread that runs `io` only.
class Client {
 public:
  using OnAnswer = std::function<void(Result<std::string>)>;

  // Borrows `io`.
  Client(boost::asio::io_context& io, ClientOptions options);
  // As close().
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // Asks the member that has answered last, and the others behind it, each once. Calls back from
  // the event loop, with the body of the answer; Error: why none of them has given one. What was
  // asked may have been done all the same.
  void ask(Request request, OnAnswer on_answer);
  // What the last one has answered is of no use: the next question goes to another one first.
  void pass_over();
  // Forgets all questions; nobody is called back.
  void close();

 private:
  class Question;
  struct Shared;

  boost::asio::io_context& io_;
  std::shared_ptr<Shared> shared_;
};

}  // namespace ddprun::etcd
