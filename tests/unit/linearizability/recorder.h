// A client of a real server that remembers what it has asked and heard, and when. One thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rendezvous/client/connection.h"
#include "rendezvous/protocol/reply_parser.h"
#include "tests/unit/linearizability/history.h"

namespace ddprun::linearizability {

class Recorder {
 public:
  // Connects; throws std::runtime_error when it cannot.
  Recorder(std::size_t client, std::uint16_t port);

  // One request after the other; a WAIT that is not over after some milliseconds is cancelled.
  void ask(const Call& call);
  // Sends all of them, and only then reads the answers. No WAIT.
  void ask_at_once(const std::vector<Call>& calls);
  // Sends it and closes the connection at once: nobody knows what becomes of the request.
  void ask_and_leave(const Call& call);

  History take() { return std::move(history_); }

 private:
  std::int64_t now() const;
  void send(const std::string& bytes);
  protocol::Reply receive(Operation operation, std::size_t keys);
  Answer receive_answer(const Call& call);
  Answer receive_wait();

  std::size_t client_;
  std::optional<client::Connection> connection_;
  std::string received_;
  History history_;
};

}  // namespace ddprun::linearizability
