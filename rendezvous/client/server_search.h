// Where an agent looks for the server of its run, and for how long: the next place to try, the
// pause before it, and what is said of those that were tried.
//
// Where several rdzvds are one, all of them are tried by turns; each may lead to another place,
// where the head is to be. Pure.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "rendezvous/base/endpoint.h"
#include "rendezvous/protocol/roster_messages.h"

namespace ddprun::client {

// As in RosterClientOptions.
struct ServerSearchOptions {
  std::vector<Endpoint> places;  // at least one
  std::chrono::nanoseconds headless_patience{};
  std::chrono::milliseconds first_pause{2};
  std::chrono::milliseconds longest_pause{500};
  std::chrono::milliseconds stranger_after{5'000};
};

class ServerSearch {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // From `now` on, for `patience`. At the end `told_patience` is named as the whole span.
  ServerSearch(ServerSearchOptions options, std::chrono::nanoseconds patience,
               std::chrono::nanoseconds told_patience, Time now);

  // Where to try it now.
  const Endpoint& here() const { return led_to_ ? *led_to_ : places_[at_].endpoint; }
  Time deadline() const { return deadline_; }
  // Nobody was found by then, and each place was tried once at least, however long those took that
  // are silent: out_of_time().
  bool is_over(Time now) const { return now >= deadline_ && (!by_turns() || all_tried_); }

  // What the present try has come to, "no answer in time".
  void found(std::string problem) { problem_ = std::move(problem); }
  const std::string& problem() const { return problem_; }
  // That, once: nothing if it was given already.
  std::optional<std::string> take_news();

  // Somebody at here() speaks the roster protocol.
  void on_server();
  // Nobody takes connections at the address that was tried.
  void on_refused() { first_silent_closing_.reset(); }
  // The connection was closed before a word was said. Whether that has gone on for long enough, so
  // that it is a stranger who does so.
  bool is_silent_stranger(Time now);

  struct Next {
    std::chrono::nanoseconds pause{};       // before the next try, at here()
    std::optional<std::string> news{};      // to be told before that
    std::optional<std::string> hopeless{};  // there is no next try: why, with the endpoint
  };
  // It has failed here. Places are tried at once after one another, with a pause after all of them,
  // which doubles up to the longest.
  Next try_later(std::string why);
  // It will never succeed here; `what` goes behind the endpoint: " is taken by a web server". That
  // ends the search where it is so in all places. The word of one that stands by is not enough.
  Next give_up(const std::string& what);
  // The server here says where the head is. One word leads there; whoever is sent on from there
  // finds it another time. Somebody is there at any rate, and a head will be: while that is said
  // the deadline moves, up to the headless patience.
  Next go_elsewhere(const protocol::Elsewhere& elsewhere, Time now);
  // It is over: what to say. A try that has only begun, where nobody is `connected`
  // yet, has nothing to say; what the one before it has found does.
  std::string out_of_time(bool connected);

 private:
  struct Place {
    Endpoint endpoint;
    std::string problem = {};  // what was found there last
    bool hopeless = false;
  };

  bool by_turns() const { return places_.size() > 1; }
  void bear_with_it(Time now);
  std::string problems() const;

  ServerSearchOptions options_;
  std::chrono::nanoseconds patience_;
  std::chrono::nanoseconds told_patience_;
  Time begun_;
  Time deadline_;
  std::chrono::milliseconds pause_;
  std::vector<Place> places_;
  std::size_t at_ = 0;                        // of places_
  bool all_tried_ = false;                    // of these, once at least
  std::optional<Endpoint> led_to_;            // where that one says that the head is
  std::string problem_;                       // why there is no connection
  std::string told_;                          // what was given as news last
  std::optional<Time> first_silent_closing_;  // since somebody said a word
};

}  // namespace ddprun::client
