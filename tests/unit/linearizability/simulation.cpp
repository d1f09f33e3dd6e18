#include "tests/unit/linearizability/simulation.h"

#include <functional>
#include <random>
#include <utility>

#include "tests/unit/linearizability/wire.h"
#include "tests/unit/linearizability/workload.h"
#include "tests/unit/store/pure_server.h"
#include "tests/unit/store/requests.h"

namespace ddprun::linearizability {
namespace {

using store::ClientId;

// One in so many calls meets the fault.
constexpr unsigned kFaultEvery = 2;

class Simulation {
 public:
  Simulation(unsigned seed, Fault fault, std::size_t clients)
      : random_(seed), fault_(fault), clients_(clients) {
    for (std::size_t i = 0; i < clients; ++i) clients_[i].workload = Workload(seed, i);
    for (std::size_t i = 0; i <= clients; ++i) server_.greet(i);
  }

  History run(std::size_t calls) {
    for (std::size_t left = clients_.size() * calls; left > 0;) {
      ++now_;
      const std::size_t at = random_() % clients_.size();
      if (step(clients_[at], at)) --left;
    }
    for (Client& client : clients_) {
      if (client.state == Client::State::idle) continue;
      client.event.answer.reset();  // on its way
      history_.push_back(client.event);
    }
    return std::move(history_);
  }

 private:
  struct Client {
    Workload workload{0, 0};
    enum class State { idle, called, applied } state = State::idle;
    Event event;
    Answer read_before;                  // at the call: what a fault makes of it
    bool faulty = false;                 // this call
    std::function<void()> after_return;  // what a fault does too late
  };

  // True when the client has got an answer.
  bool step(Client& client, std::size_t at) {
    switch (client.state) {
      case Client::State::idle:
        if (client.after_return) std::exchange(client.after_return, nullptr)();
        begin(client, at);
        return false;
      case Client::State::called:
        client.event.answer = client.faulty ? apply_faulty(client, at) : ask(at, client.event.call);
        client.state = Client::State::applied;
        return false;
      case Client::State::applied:
        client.event.returned = now_;
        history_.push_back(client.event);
        client.state = Client::State::idle;
        return true;
    }
    return false;
  }

  void begin(Client& client, std::size_t at) {
    client.event = {.client = at, .called = now_, .call = client.workload.next()};
    client.state = Client::State::called;
    client.faulty = fault_ != Fault::none && random_() % kFaultEvery == 0;
    const std::string& key = client.event.call.keys.front();
    if (client.faulty && reads_before(client.event.call.operation))
      client.read_before = ask(clients_.size(), {Operation::kGet, {key}});
  }

  bool reads_before(Operation operation) const {
    return (operation == Operation::kAdd && fault_ == Fault::lost_update) ||
           (operation == Operation::kCompareSet && fault_ == Fault::split_compare);
  }

  // What the store really says.
  Answer ask(std::size_t client, const Call& call) {
    server_.send(client, encode(call));
    std::string bytes = server_.take(client);
    if (call.operation == Operation::kWait && bytes.empty()) {
      server_.send(client, store::bare(Operation::kCancelWait));
      server_.take(client);
      return {};
    }
    if (protocol::has_no_reply(call.operation)) return {};
    protocol::ReplyParser parser(call.operation, call.keys.size());
    parser.feed(bytes);
    return answer_of(call.operation, parser.reply());
  }

  Answer apply_faulty(Client& client, std::size_t at) {
    const Call& call = client.event.call;
    const Operation operation = call.operation;
    if (fault_ == Fault::lost_update && operation == Operation::kAdd) return add_late(client, at);
    if (fault_ == Fault::split_compare && operation == Operation::kCompareSet)
      return compare_early(client, at);
    if (fault_ == Fault::stale_read && operation == Operation::kGet)
      return std::exchange(last_read_[call.keys.front()], ask(at, call));
    if (fault_ == Fault::late_write && operation == Operation::kSet) {
      client.after_return = [this, call, at] { ask(at, call); };
      return {};
    }
    if (fault_ == Fault::torn_write && operation == Operation::kMultiSet) {
      ask(at, {Operation::kSet, {call.keys[0]}, {call.values[0]}});
      client.after_return = [this, call, at] {
        ask(at, {Operation::kSet, {call.keys[1]}, {call.values[1]}});
      };
      return {};
    }
    if (fault_ == Fault::item_twice && operation == Operation::kQueuePop) {
      const Answer answer = ask(at, call);
      // Behind the others, which is as bad.
      if (answer.number > 0) ask(at, {Operation::kQueuePush, call.keys, answer.values});
      return answer;
    }
    if (fault_ == Fault::lost_item && operation == Operation::kQueuePush) return {};
    if (fault_ == Fault::early_wake && operation == Operation::kWait) return {.ready = true};
    if (fault_ == Fault::forgotten_delete && operation == Operation::kDeleteKey)
      return {.number = ask(at, {Operation::kCheck, call.keys}).ready ? 1 : 0};
    return ask(at, call);
  }

  Answer add_late(Client& client, std::size_t at) {
    const std::string& read = client.read_before.values.front();
    const std::int64_t sum = (read.empty() ? 0 : std::stoll(read)) + client.event.call.number;
    ask(at, {Operation::kSet, client.event.call.keys, {std::to_string(sum)}});
    return {.number = sum};
  }

  Answer compare_early(Client& client, std::size_t at) {
    const Call& call = client.event.call;
    const std::string& read = client.read_before.values.front();
    if (read != call.values[0]) return {.values = {read.empty() ? call.values[0] : read}};
    ask(at, {Operation::kSet, call.keys, {call.values[1]}});
    return {.values = {call.values[1]}};
  }

  std::mt19937 random_;
  Fault fault_;
  std::vector<Client> clients_;
  store::PureServer server_;
  std::map<std::string, Answer> last_read_;
  std::int64_t now_ = 0;
  History history_;
};

}  // namespace

History simulate(unsigned seed, Fault fault, std::size_t clients, std::size_t calls) {
  return Simulation(seed, fault, clients).run(calls);
}

}  // namespace ddprun::linearizability
