// One time limit of the same length for many things, with one timer.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <utility>

namespace ddprun::server {

// Things are told by number, and cannot be taken out: whoever is called back for one that needs no
// limit any more has nothing to do. On the io_context's thread.
template <class Id>
class Deadlines {
 public:
  // `passed` is called for each thing that was added `span` ago.
  Deadlines(boost::asio::io_context& io, std::chrono::milliseconds span,
            std::function<void(Id)> passed)
      : state_(std::make_shared<State>(io, span, std::move(passed))) {}
  ~Deadlines() { close(); }
  Deadlines(const Deadlines&) = delete;
  Deadlines& operator=(const Deadlines&) = delete;

  void add(Id id) {
    state_->waiting.push_back({std::chrono::steady_clock::now() + state_->span, id});
    if (state_->waiting.size() == 1) watch(state_);
  }
  // Forgets all; nobody is called any more, and the loop is not kept alive.
  void close() {
    state_->passed = nullptr;
    state_->waiting.clear();
    state_->timer.cancel();
  }

 private:
  struct Entry {
    std::chrono::steady_clock::time_point at;
    Id id;
  };
  struct State {
    State(boost::asio::io_context& io, std::chrono::milliseconds s, std::function<void(Id)> p)
        : span(s), passed(std::move(p)), timer(io) {}
    std::chrono::milliseconds span;
    std::function<void(Id)> passed;
    boost::asio::steady_timer timer;
    std::deque<Entry> waiting;  // by time
  };

  static void watch(const std::shared_ptr<State>& state) {
    state->timer.expires_at(state->waiting.front().at);
    state->timer.async_wait([state](const boost::system::error_code& error) {
      const auto now = std::chrono::steady_clock::now();
      while (!error && !state->waiting.empty() && state->waiting.front().at <= now) {
        const Id id = state->waiting.front().id;
        state->waiting.pop_front();
        state->passed(id);
      }
      if (!error && !state->waiting.empty()) watch(state);
    });
  }

  std::shared_ptr<State> state_;
};

}  // namespace ddprun::server
