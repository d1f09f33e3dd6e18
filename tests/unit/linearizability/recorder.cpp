#include "tests/unit/linearizability/recorder.h"

#include <chrono>
#include <stdexcept>

#include "rendezvous/protocol/encode.h"
#include "tests/unit/linearizability/wire.h"

namespace ddprun::linearizability {
namespace {

using client::Clock;

constexpr std::chrono::seconds kPatience{20};
constexpr std::chrono::milliseconds kWait{3};
// A request without a reply is done when the server has answered this one behind it.
constexpr std::uint32_t kNonce = 0x99887766;

Clock::time_point until() {
  return Clock::now() + kPatience;
}

template <class T>
T value_of(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().text);
  return std::move(*result);
}

}  // namespace

Recorder::Recorder(std::size_t client, std::uint16_t port)
    : client_(client),
      connection_(value_of(client::Connection::open("127.0.0.1", port, until(), "the store"))) {
  std::string hello;
  protocol::encode_validate(hello);
  send(hello);
}

void Recorder::ask(const Call& call) {
  const std::int64_t called = now();
  std::string request = encode(call);
  if (protocol::has_no_reply(call.operation)) protocol::encode_ping(request, kNonce);
  send(request);
  Answer answer = receive_answer(call);
  history_.push_back({client_, called, now(), call, std::move(answer)});
}

void Recorder::ask_at_once(const std::vector<Call>& calls) {
  std::string requests;
  for (const Call& call : calls) {
    requests += encode(call);
    if (protocol::has_no_reply(call.operation)) protocol::encode_ping(requests, kNonce);
  }
  const std::int64_t called = now();
  send(requests);
  for (const Call& call : calls) {
    Answer answer = receive_answer(call);
    history_.push_back({client_, called, now(), call, std::move(answer)});
  }
}

void Recorder::ask_and_leave(const Call& call) {
  const std::int64_t called = now();
  send(encode(call));
  connection_.reset();
  history_.push_back({client_, called, called, call, std::nullopt});
}

std::int64_t Recorder::now() const {
  return Clock::now().time_since_epoch().count();
}

void Recorder::send(const std::string& bytes) {
  if (const auto sent = connection_->send(bytes, until()); !sent)
    throw std::runtime_error(sent.error().text);
}

protocol::Reply Recorder::receive(Operation operation, std::size_t keys) {
  protocol::ReplyParser parser(operation, keys);
  received_.erase(0, parser.feed(received_));
  while (!parser.complete()) {
    const auto bytes = value_of(connection_->receive(until()));
    received_ = bytes.substr(parser.feed(bytes));
  }
  return std::move(parser.reply());
}

Answer Recorder::receive_answer(const Call& call) {
  if (call.operation == Operation::kWait) return receive_wait();
  if (!protocol::has_no_reply(call.operation))
    return answer_of(call.operation, receive(call.operation, call.keys.size()));
  receive(Operation::kPing, 1);
  return {};
}

Answer Recorder::receive_wait() {
  if (received_.empty() && !connection_->readable(Clock::now() + kWait)) {
    std::string cancel;
    protocol::encode_bare(cancel, Operation::kCancelWait);
    send(cancel);
    if (receive(Operation::kCancelWait, 1).code == protocol::kWaitCanceled) return {};
    // The keys came while the request to cancel was on its way.
    receive(Operation::kCancelWait, 1);
    return {.ready = true};
  }
  return answer_of(Operation::kWait, receive(Operation::kWait, 1));
}

}  // namespace ddprun::linearizability
