#include "tests/unit/linearizability/checker.h"

#include <algorithm>
#include <list>
#include <map>
#include <optional>
#include <unordered_set>

#include "tests/unit/linearizability/sequential_store.h"

namespace ddprun::linearizability {
namespace {

constexpr std::size_t kShown = 40;  // events of a violation

using Events = std::vector<const Event*>;

// Whether the store may give this answer now; it is then as it is behind the call.
bool allows(SequentialStore& store, const Event& event) {
  const std::optional<Answer> answer = store.apply(event.call);
  if (!event.answer) return true;
  if (event.call.operation == Operation::kWait) return answer.has_value() == event.answer->ready;
  return answer == event.answer;
}

// The search among the events of one set of keys.
class Search {
 public:
  explicit Search(Events events) : events_(std::move(events)), done_(events_.size(), '0') {
    std::ranges::stable_sort(events_, {}, &Event::called);
    for (const Event* event : events_) answered_ += event->answer ? 1 : 0;
    link_clients();
    make_timeline();
  }

  Verdict run(std::uint64_t most_steps) {
    auto at = timeline_.begin();
    while (order_.size() < events_.size()) {
      // Those without an answer need not have happened.
      if (done_answered_ == answered_) break;
      if (at != timeline_.end() && at->is_call) {
        if (!take(at))
          ++at;
        else if (++steps_ > most_steps)
          return {Verdict::Kind::undecided, steps_, "not decided after so many steps"};
        else
          at = timeline_.begin();
        continue;
      }
      // Somebody has returned (or nothing is left) whose call found no place before.
      if (order_.empty()) return {Verdict::Kind::violated, steps_, explain()};
      at = std::next(put_back());
    }
    return {Verdict::Kind::linearizable, steps_, ""};
  }

 private:
  struct Mark {
    std::size_t event;
    bool is_call;
  };
  using Timeline = std::list<Mark>;
  // An event that was given its place, and what undoes that.
  struct Placed {
    std::size_t event;
    SequentialStore before;
    Timeline taken;  // its call and, if it has one, its return
    Timeline::iterator behind_call, behind_return;
  };

  void link_clients() {
    std::map<std::size_t, std::size_t> last;
    for (std::size_t i = 0; i < events_.size(); ++i) {
      const auto [client, is_first] = last.try_emplace(events_[i]->client, i);
      before_.push_back(is_first ? std::nullopt : std::optional(client->second));
      client->second = i;
    }
  }

  void make_timeline() {
    struct Moment {
      std::int64_t time;
      bool is_return;  // at the same moment calls come first: these events overlap
      std::size_t event;
    };
    std::vector<Moment> moments;
    for (std::size_t i = 0; i < events_.size(); ++i) {
      moments.push_back({events_[i]->called, false, i});
      if (events_[i]->answer) moments.push_back({events_[i]->returned, true, i});
    }
    std::ranges::stable_sort(moments, [](const Moment& a, const Moment& b) {
      return std::pair(a.time, a.is_return) < std::pair(b.time, b.is_return);
    });
    returns_.resize(events_.size());
    for (const Moment& moment : moments) {
      timeline_.push_back({moment.event, !moment.is_return});
      if (moment.is_return) returns_[moment.event] = std::prev(timeline_.end());
    }
  }

  // Puts the event next if it can be there and that has not been tried; false otherwise.
  bool take(Timeline::iterator call) {
    const std::size_t event = call->event;
    if (before_[event] && done_[*before_[event]] == '0') return false;
    SequentialStore after = store_;
    if (!allows(after, *events_[event])) return false;
    done_[event] = '1';
    if (!tried_.insert(done_ + after.text()).second) {
      done_[event] = '0';
      return false;
    }
    Placed placed{event, std::move(store_), {}, {}, {}};
    placed.behind_call = std::next(call);
    placed.taken.splice(placed.taken.end(), timeline_, call);
    if (events_[event]->answer) {
      if (placed.behind_call == returns_[event]) placed.behind_call = std::next(returns_[event]);
      placed.behind_return = std::next(returns_[event]);
      placed.taken.splice(placed.taken.end(), timeline_, returns_[event]);
      ++done_answered_;
    }
    store_ = std::move(after);
    order_.push_back(std::move(placed));
    if (order_.size() > longest_.size()) remember_longest();
    return true;
  }

  // Undoes the last one; returns its call.
  Timeline::iterator put_back() {
    Placed last = std::move(order_.back());
    order_.pop_back();
    done_[last.event] = '0';
    store_ = std::move(last.before);
    const auto call = last.taken.begin();
    if (events_[last.event]->answer) {
      --done_answered_;
      const auto end = std::next(call);
      timeline_.splice(last.behind_return, last.taken, end);
      if (last.behind_call == last.behind_return) last.behind_call = end;
    }
    timeline_.splice(last.behind_call, last.taken, call);
    return call;
  }

  void remember_longest() {
    longest_.clear();
    for (const Placed& placed : order_) longest_.push_back(placed.event);
  }

  std::string explain() const {
    std::string text = "as much as can be put in order:\n";
    const std::size_t skipped = longest_.size() > kShown ? longest_.size() - kShown : 0;
    if (skipped > 0) text += "  (" + std::to_string(skipped) + " before)\n";
    for (std::size_t i = skipped; i < longest_.size(); ++i)
      text += "  " + text_of(*events_[longest_[i]]) + "\n";
    text += "of these none can follow:\n";
    std::size_t left = kShown;
    for (std::size_t i = 0; i < events_.size() && left > 0; ++i) {
      if (std::ranges::find(longest_, i) != longest_.end()) continue;
      text += "  " + text_of(*events_[i]) + "\n";
      --left;
    }
    return text;
  }

  Events events_;
  Timeline timeline_;                               // of the events that have no place yet
  std::vector<Timeline::iterator> returns_;         // by event
  std::vector<std::optional<std::size_t>> before_;  // by event: what its client had sent before
  std::string done_;                                // by event: '1' has its place
  SequentialStore store_;
  std::vector<Placed> order_;
  std::size_t answered_ = 0, done_answered_ = 0;
  std::unordered_set<std::string> tried_;
  std::vector<std::size_t> longest_;
  std::uint64_t steps_ = 0;
};

// Keys that some request has together belong to one set; each set can be judged by itself.
class KeySets {
 public:
  void join(const std::vector<std::string>& keys) {
    for (const std::string& key : keys) parents_[find(key)] = find(keys.front());
  }
  std::string find(const std::string& key) {
    std::string& parent = parents_.try_emplace(key, key).first->second;
    if (parent == key) return key;
    return parent = find(parent);
  }

 private:
  std::map<std::string, std::string> parents_;
};

}  // namespace

Verdict check(const History& history, std::uint64_t most_steps) {
  KeySets sets;
  for (const Event& event : history) sets.join(event.call.keys);
  std::map<std::string, Events> parts;
  for (const Event& event : history) parts[sets.find(event.call.keys.front())].push_back(&event);
  Verdict all;
  for (auto& [key, events] : parts) {
    Verdict part = Search(std::move(events)).run(most_steps);
    part.steps += all.steps;
    if (part.kind != Verdict::Kind::linearizable) {
      part.text = "keys with '" + key + "': " + part.text;
      return part;
    }
    all = part;
  }
  return all;
}

}  // namespace ddprun::linearizability
