// Which of several rdzvds is the head: the one whose key with a lease stands in etcd.
//
// Pure: answers of etcd and times go in, what to do goes out. A candidate looks whether there is a
// head; while there is one it follows. Else it asks for a lease and claims the key, which etcd
// gives to one only. The head renews its lease three times in its time, looks each time whether the
// key is still its own, and leaves office before the lease can have run out by its own clock, so
// that no two ever serve. What it writes is fenced besides: etcd takes it only while the key is
// still the one that it was given.
//
// Whoever carries out the orders has one question at a time underway, and gives its answer, or says
// that there was none; an answer to an earlier question than the last one is not given.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace ddprun::election {

// Monotonic time; only differences mean anything.
using Time = std::chrono::steady_clock::time_point;
using std::chrono::nanoseconds;
using LeaseId = std::int64_t;

// What stands in etcd.
struct Holder {
  std::string server;   // names the process of that rdzvd; empty: no rdzvd has written it
  std::string address;  // where agents reach it
  LeaseId lease = 0;
  std::int64_t revision = 0;  // at which the key was made: no other head has the same
  std::int64_t version = 0;   // how often it was written since
};

// Questions.
struct Look {};
struct AskLease {};
struct Claim {
  LeaseId lease = 0;
};
struct KeepAlive {
  LeaseId lease = 0;
};
// Let the lease go; nobody waits for the answer.
struct Revoke {
  LeaseId lease = 0;
};
// This one is the head from now on.
struct TakeOffice {
  Holder holder;
};
// And is it no more: say nothing to anybody.
struct LeaveOffice {
  std::string why;
};
// Another one is, or nobody yet. Told when it changes.
struct Follow {
  std::optional<std::string> address;
  std::string why;
};

using Order =
    std::variant<Look, AskLease, Claim, KeepAlive, Revoke, TakeOffice, LeaveOffice, Follow>;

struct Decision {
  std::vector<Order> orders;    // in their order
  std::optional<Time> wake_at;  // call on_time then, or earlier
};

struct Options {
  std::string server;
  std::string address;
  std::string key = "head";                           // its name, for people
  nanoseconds poll = std::chrono::milliseconds(250);  // between two looks
  // Of any head, at the most: what has the address of this one for longer is another rdzvd.
  nanoseconds longest_lease = std::chrono::seconds(75);
};

class Election {
 public:
  explicit Election(Options options) : options_(std::move(options)) {}

  Decision start(Time now);
  // Answers to the questions; `asked` is when the question was sent.
  Decision on_found(Time now, const std::optional<Holder>& holder);
  Decision on_lease(Time now, Time asked, LeaseId lease, nanoseconds life);
  Decision on_claimed(Time now, const Holder& holder);       // whoever has it now
  Decision on_kept(Time now, Time asked, nanoseconds life);  // 0: there is no such lease any more
  // No member of etcd has answered in time.
  Decision on_unanswered(Time now, const std::string& why);
  // A write has not found the key as it was given: `holder` has it, or nobody.
  Decision on_fenced(Time now, const std::optional<Holder>& holder);
  // Etcd has not taken a write for so long that whoever waits for it has to be told.
  Decision on_unwritten(Time now, const std::string& why);
  Decision on_time(Time now);
  // This rdzvd ends: the next one need not wait for the end of a lease of this one, which is to be
  // revoked. Nothing follows.
  Decision resign(Time now);

  // Nobody else can be the head. Also false between the lease's end and on_time().
  bool leads(Time now) const { return state_ == State::leading && now < lease_until_; }

 private:
  enum class State { looking, leasing, claiming, leading, resigned };

  template <class T>
  void give(T order) {
    orders_.emplace_back(std::in_place_type<T>, std::move(order));
  }
  void look();
  void follow(std::optional<std::string> address, std::string why);
  void follow(Time now, const Holder& holder);
  bool is_mine(const Holder& holder) const;
  void on_seen(const std::optional<Holder>& holder);
  void leave(const std::string& why);
  void set_lease(Time asked, nanoseconds life);
  Decision take();

  Options options_;
  State state_ = State::looking;
  bool asking_ = false;  // a question is underway
  Time next_at_{};       // when to ask the next one
  LeaseId lease_ = 0;
  Time lease_until_{};  // it may end then, at the earliest
  nanoseconds life_{};  // of the lease, in all
  std::string problem_;
  std::int64_t namesake_ = 0;  // revision of a key that has the address of this one
  Time namesake_since_{};
  std::optional<Follow> told_;
  std::vector<Order> orders_;
};

}  // namespace ddprun::election
