#include "rendezvous/client/server_search.h"

#include <algorithm>
#include <utility>

#include "rendezvous/base/span_text.h"

namespace ddprun::client {

ServerSearch::ServerSearch(ServerSearchOptions options, std::chrono::nanoseconds patience,
                           std::chrono::nanoseconds told_patience, Time now)
    : options_(std::move(options)),
      patience_(patience),
      told_patience_(told_patience),
      begun_(now),
      deadline_(now + patience),
      pause_(options_.first_pause) {
  for (const Endpoint& each : options_.places) places_.push_back({each});
}

std::optional<std::string> ServerSearch::take_news() {
  if (problem_ == told_) return {};
  told_ = problem_;
  return told_;
}

void ServerSearch::on_server() {
  places_[at_].hopeless = false;
  first_silent_closing_.reset();
}

bool ServerSearch::is_silent_stranger(Time now) {
  if (!first_silent_closing_) first_silent_closing_ = now;
  return now >= *first_silent_closing_ + options_.stranger_after;
}

ServerSearch::Next ServerSearch::try_later(std::string why) {
  if (led_to_) why = "the head is to be at " + to_text(*led_to_) + ": " + why;
  led_to_.reset();
  places_[at_].problem = std::move(why);
  at_ = (at_ + 1) % places_.size();
  if (at_ != 0) return {};
  all_tried_ = true;
  problem_ = problems();
  const std::chrono::milliseconds pause = pause_;
  pause_ = std::min(2 * pause_, options_.longest_pause);
  return {.pause = pause, .news = take_news()};
}

ServerSearch::Next ServerSearch::give_up(const std::string& what) {
  if (!by_turns() && !led_to_) return {.hopeless = to_text(here()) + what};
  if (!led_to_) places_[at_].hopeless = true;
  if (!std::ranges::all_of(places_, &Place::hopeless)) return try_later(what);
  places_[at_].problem = what;
  return {.hopeless = problems()};
}

ServerSearch::Next ServerSearch::go_elsewhere(const protocol::Elsewhere& elsewhere, Time now) {
  bear_with_it(now);
  told_.clear();  // the owner has heard of a connection since
  const auto head = elsewhere.endpoint ? parse_endpoint(*elsewhere.endpoint) : Error{""};
  if (!head || head->host.empty() || led_to_) return try_later("no head now: " + elsewhere.why);
  led_to_ = *head;
  return {};
}

void ServerSearch::bear_with_it(Time now) {
  if (options_.headless_patience <= options_.headless_patience.zero()) return;
  const Time until = std::min(now + patience_, begun_ + options_.headless_patience);
  if (until <= deadline_) return;
  told_patience_ += until - deadline_;
  deadline_ = until;
}

std::string ServerSearch::out_of_time(bool connected) {
  if ((!connected || by_turns()) && !told_.empty()) problem_ = told_;
  std::string where;
  for (const Place& each : places_) where += (where.empty() ? "" : ",") + to_text(each.endpoint);
  return where + " could not be reached within " + span_text(told_patience_) + ": " + problem_;
}

// What was found at each of them.
std::string ServerSearch::problems() const {
  if (!by_turns()) return places_.front().problem;
  std::string all;
  for (const Place& each : places_) {
    if (each.problem.empty()) continue;
    all += (all.empty() ? "" : "; ") + to_text(each.endpoint);
    all +=
        (each.problem.starts_with(' ') || each.problem.starts_with(':') ? "" : ": ") + each.problem;
  }
  return all;
}

}  // namespace ddprun::client
