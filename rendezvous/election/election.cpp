#include "rendezvous/election/election.h"

#include <algorithm>
#include <utility>

#include "rendezvous/base/span_text.h"

namespace ddprun::election {
namespace {

// Clocks of two hosts run alike within far less.
constexpr int kMargin = 10;   // a tenth of the lease
constexpr int kRenewals = 3;  // in the life of a lease

}  // namespace

Decision Election::start(Time now) {
  next_at_ = now;
  return on_time(now);
}

void Election::look() {
  state_ = State::looking;
  asking_ = true;
  give(Look{});
}

void Election::follow(std::optional<std::string> address, std::string why) {
  if (told_ && told_->address == address && told_->why == why) return;
  told_ = Follow{std::move(address), std::move(why)};
  give(*told_);
}

void Election::set_lease(Time asked, nanoseconds life) {
  life_ = life;
  lease_until_ = asked + life - life / kMargin;
  next_at_ = asked + life / kRenewals;
}

Decision Election::on_found(Time now, const std::optional<Holder>& holder) {
  if (state_ != State::looking && state_ != State::leading) return take();
  asking_ = false;
  problem_.clear();
  if (state_ == State::leading) {
    on_seen(holder);
    return take();
  }
  if (!holder) {
    state_ = State::leasing;
    lease_ = 0;
    asking_ = true;
    give(AskLease{});
    return take();
  }
  next_at_ = now + options_.poll;
  follow(now, *holder);
  return take();
}

void Election::follow(Time now, const Holder& holder) {
  const std::string advice =
      "; if no other program uses the prefix, delete it: etcdctl del " + options_.key;
  if (holder.server.empty() || holder.address.empty())
    return follow({},
                  "what is at " + options_.key + " in etcd was not written by an rdzvd" + advice);
  if (holder.lease == 0)
    return follow({},
                  "what is at " + options_.key + " in etcd has no lease and stays there" + advice);
  if (holder.address != options_.address)
    return follow(holder.address, "the head is rdzvd at " + holder.address);
  // What this rdzvd had in an earlier life, or before it left office, is nobody's.
  if (std::exchange(namesake_, holder.revision) != holder.revision) namesake_since_ = now;
  if (holder.server == options_.server || now < namesake_since_ + options_.longest_lease)
    return follow({}, "the lease of the last head has not run out yet");
  follow({}, "the head is another rdzvd that advertises " + options_.address +
                 " as well, as this one does; each needs an --advertise of its own");
}

bool Election::is_mine(const Holder& holder) const {
  return holder.server == options_.server && holder.lease == lease_;
}

// Somebody may have deleted the key, and another rdzvd have made it anew.
void Election::on_seen(const std::optional<Holder>& holder) {
  if (!holder)
    leave("its key " + options_.key + " is gone from etcd");
  else if (!is_mine(*holder))
    leave(holder->server.empty() ? "its key " + options_.key + " in etcd was overwritten"
                                 : "another rdzvd has become the head");
}

Decision Election::on_lease(Time, Time asked, LeaseId lease, nanoseconds life) {
  if (state_ != State::leasing) return take();
  state_ = State::claiming;
  lease_ = lease;
  set_lease(asked, life);
  asking_ = true;
  give(Claim{lease});
  return take();
}

Decision Election::on_claimed(Time now, const Holder& holder) {
  if (state_ != State::claiming) return take();
  asking_ = false;
  const bool mine = is_mine(holder);
  if (mine && now < lease_until_) {
    state_ = State::leading;
    told_.reset();
    give(TakeOffice{holder});
    return take();
  }
  give(Revoke{lease_});
  if (mine) {
    look();
    return take();
  }
  state_ = State::looking;
  return on_found(now, holder);
}

Decision Election::on_kept(Time now, Time asked, nanoseconds life) {
  if (state_ != State::leading) return take();
  asking_ = false;
  problem_.clear();
  if (life <= life.zero()) {
    leave("etcd has let its lease run out");
  } else if (now >= lease_until_) {
    leave("its lease was renewed too late");
  } else {
    set_lease(asked, life);
    asking_ = true;
    give(Look{});
  }
  return take();
}

Decision Election::on_unanswered(Time now, const std::string& why) {
  if (state_ == State::resigned) return take();
  asking_ = false;
  problem_ = why;
  next_at_ = now + options_.poll;
  if (state_ == State::leading) return on_time(now);
  // The claim may have come through all the same.
  if (state_ == State::claiming) give(Revoke{lease_});
  state_ = State::looking;
  follow({}, "etcd does not answer: " + why);
  return take();
}

Decision Election::on_fenced(Time, const std::optional<Holder>& holder) {
  if (state_ == State::leading) on_seen(holder);
  if (state_ == State::leading) leave("its key " + options_.key + " in etcd was overwritten");
  return take();
}

// A head that can decide nothing is none, though its lease lives on.
Decision Election::on_unwritten(Time, const std::string& why) {
  if (state_ == State::leading) leave("etcd takes no writes: " + why);
  return take();
}

void Election::leave(const std::string& why) {
  give(LeaveOffice{why});
  give(Revoke{lease_});
  follow({}, "the rdzvd here is not the head any more: " + why);
  look();
}

Decision Election::on_time(Time now) {
  if (state_ == State::resigned) return take();
  if (state_ == State::leading && now >= lease_until_) {
    leave("its lease of " + span_text(life_) + " could not be renewed" +
          (problem_.empty() ? "" : ": " + problem_));
    return take();
  }
  if (asking_ || now < next_at_) return take();
  if (state_ != State::leading) {
    look();
    return take();
  }
  asking_ = true;
  give(KeepAlive{lease_});
  return take();
}

Decision Election::resign(Time) {
  if (state_ == State::leading) give(LeaveOffice{"it ends"});
  if (state_ == State::leading || state_ == State::claiming) give(Revoke{lease_});
  state_ = State::resigned;
  return take();
}

Decision Election::take() {
  Decision decision{.orders = std::exchange(orders_, {}), .wake_at = {}};
  if (state_ == State::resigned) return decision;
  if (!asking_) decision.wake_at = next_at_;
  if (state_ == State::leading)
    decision.wake_at = std::min(decision.wake_at.value_or(lease_until_), lease_until_);
  return decision;
}

}  // namespace ddprun::election
