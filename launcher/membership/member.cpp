#include "launcher/membership/member.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "rendezvous/base/span_text.h"

namespace ddprun::membership {
namespace {

constexpr int kCannotWork = 125;
// Nodes are started one after the other, and a moment without the first is no news.
constexpr std::chrono::seconds kFirstWord{1};
constexpr std::chrono::seconds kNextWord{10};
constexpr std::chrono::seconds kOften{60};  // then it is no news any more
constexpr std::chrono::seconds kLaterWord{60};
// A membership that ends sooner is no reason to begin again at once.
constexpr std::chrono::seconds kLasting{1};
constexpr std::chrono::milliseconds kPauseBetweenMemberships{500};

}  // namespace

Orders Member::start(Time now) {
  began_ = now;
  connect(now, options_.join_timeout);
  return take();
}

void Member::connect(Time now, nanoseconds patience, nanoseconds pause) {
  link_ = Link::connecting;
  connecting_since_ = now;
  say_at_ = now + kFirstWord;
  unreachable_.clear();
  problem_.clear();
  give(Connect{patience, pause});
}

Orders Member::on_connected(Time) {
  // Of several it may be one that stands by, and the client tells what there is to tell of all.
  if (!options_.several_servers) unreachable_ = "it takes connections and does not answer";
  if (end_) return take();
  link_ = Link::joining;
  shows_place_ = assignment_ && (work_ == Work::running || work_ == Work::finished || failed_);
  SayJoin join;
  if (!shows_place_) join.fresh_store = std::exchange(store_used_, false);
  if (shows_place_)
    join.held = protocol::Held{.server = assigned_by_,
                               .member = assigned_,
                               .finished = work_ == Work::finished,
                               .assignment = *assignment_};
  if (welcome_ && !run_directory_.empty())
    join.former = protocol::Former{.server = welcome_->server,
                                   .run_directory = run_directory_,
                                   .round = last_round_,
                                   .restarts = last_restarts_};
  give(std::move(join));
  return take();
}

Orders Member::on_unreachable(Time now, const std::string& why) {
  link_ = Link::connecting;
  const bool changed = !unreachable_.empty() && problem_ != why;
  problem_ = unreachable_ = why;
  if (changed && now >= connecting_since_ + kFirstWord) say_at_ = now;
  say_unreachable(now);
  return take();
}

void Member::say_unreachable(Time now) {
  if (end_ || unreachable_.empty() || now < say_at_) return;
  say_at_ = now + (now < connecting_since_ + kOften ? kNextWord : kLaterWord);
  say("waiting for the rendezvous at " + options_.endpoint + ": " + unreachable_ + " (for " +
      span_text(now - connecting_since_) + ")" + also_cannot_host());
}

std::string Member::also_cannot_host() const {
  return cannot_host_.empty() ? "" : "; this node cannot host it: " + cannot_host_;
}

Orders Member::on_message(Time now, const protocol::ServerMessage& message) {
  if (!ended_) std::visit([&](const auto& each) { on(now, each); }, message);
  return take();
}

void Member::on(Time now, const protocol::Welcome& message) {
  const bool back = welcome_.has_value();
  other_server_ = back && welcome_->server != message.server;
  welcome_ = message;
  if (!assignment_) run_directory_ = message.run_directory;
  if (std::exchange(link_, Link::member) == Link::member) return;
  member_since_ = waiting_since_ = now;
  unreachable_.clear();
  cannot_host_.clear();
  if (back) say("found the rendezvous at " + options_.endpoint + " again");
  if (shows_place_) return tell_round(now);
  // A newcomer has no round to account for.
  if (work_ == Work::stopped) work_ = Work::idle;
}

// What the server that was lost may not have heard, and what a new one cannot know.
void Member::tell_round(Time now) {
  if (started_) give(Send{*started_});
  if (failed_) send_failed(now);
  if (work_ == Work::finished) give(Send{protocol::Finished{assignment_->round}});
}

void Member::send_failed(Time now) {
  protocol::Failed failed = *failed_;
  failed.age = now - failed_at_;
  give(Send{std::move(failed)});
}

void Member::on(Time now, const protocol::Waiting& message) {
  // What a spare hears does not change with time.
  if (message.spare && message.text == spare_text_) return;
  if (message.spare && spare_text_.empty()) give(BecomeSpare{});
  spare_text_ = message.spare ? message.text : "";
  waiting_ = message.text;
  if (message.here < message.needed) waiting_ += "; they are to come to " + options_.endpoint;
  say_waiting(now);
}

// As long as hardly anybody would have looked up there is nothing to wait for.
void Member::say_waiting(Time now) {
  if (end_ || waiting_.empty() || now < waiting_since_ + kFirstWord) return;
  say_for_all(std::exchange(waiting_, {}));
}

void Member::say_for_all(std::string text) {
  if (!options_.first_node_speaks || !welcome_ || !welcome_->embedded) say(std::move(text));
}

void Member::on(Time now, const protocol::Assignment& message) {
  if (end_) return;
  const auto place = protocol::place_of(message, welcome_ ? welcome_->member : 0);
  if (!place || work_ == Work::running || work_ == Work::stopping) {
    const std::string why = "the rendezvous at " + options_.endpoint +
                            " began a round that this node cannot take part in";
    say_goodbye(why);
    return end_with({.kind = Verdict::Kind::lost, .exit_code = kCannotWork, .text = why});
  }
  assignment_ = message;
  last_round_ = message.round;
  last_restarts_ = message.restarts;
  assigned_ = welcome_->member;
  assigned_by_ = welcome_->server;
  work_ = Work::running;
  waiting_.clear();
  store_used_ = true;
  started_.reset();
  failed_.reset();
  restart_follows_ = false;
  round_began_ = now;
  drain_at_.reset();
  give(BeginRound{message, *place});
}

void Member::on(Time, const protocol::Stop& message) {
  const bool mine = assignment_ && message.round == assignment_->round;
  if (!end_ && mine && work_ == Work::running) stop_workers(message.why);
}

void Member::on(Time now, const protocol::Restart& message) {
  if (end_) return;
  // Of a node that is lost all speak: it may be the first.
  const bool by_worker = message.cause.kind == protocol::Cause::Kind::worker_failed;
  if (!options_.first_node_speaks || !by_worker) say(message.why);
  if (!assignment_ || message.round != assignment_->round) return;
  last_restarts_ = message.restarts;
  failed_.reset();
  if (!std::exchange(restart_follows_, true)) note_failure(now, message);
  if (work_ == Work::running) return stop_workers(message.why);
  if (work_ == Work::finished || work_ == Work::stopped) drain(now);
}

// As on one node: a job that fails at once again and again is given time.
void Member::note_failure(Time now, const protocol::Restart& message) {
  if (message.cause.kind != protocol::Cause::Kind::worker_failed) return;
  attempts_.push_back({.ran = now - round_began_});
  give(NoteAttempt{message.round, message.cause, now - round_began_});
  pause_ = supervise::decide_restart(attempts_, {.max_restarts = std::numeric_limits<int>::max(),
                                                 .backoff = options_.restart_backoff})
               .pause;
  if (pause_ > pause_.zero() && !options_.first_node_speaks)
    say("the next round is prepared in " + span_text(pause_) +
        ", because rounds fail within a second again and again");
}

void Member::on(Time, const protocol::Abort& message) {
  end_with({.kind = Verdict::Kind::cause,
            .exit_code = message.exit_code,
            .text = message.why,
            .cause = message.cause});
}

void Member::on(Time, const protocol::Closed& message) {
  end_with({.kind = Verdict::Kind::success, .text = message.why});
}

void Member::on(Time, const protocol::Refused& message) {
  end_with({.kind = Verdict::Kind::lost, .exit_code = kCannotWork, .text = message.why});
}

void Member::on(Time, const protocol::ServerStopping& message) {
  server_stopping_ = message.why;
}

void Member::on(Time, const protocol::Notice& message) {
  say_for_all(message.text);
}

void Member::on(Time, const protocol::TakeStacks& message) {
  if (work_ == Work::running) return give(TakeStacks{message.id});
  give(Send{protocol::StacksDone{.id = message.id, .path = {}, .failed = {}}});
}

Orders Member::on_lost(Time now, const std::string& how) {
  const bool stopped = server_stopping_.has_value();
  const std::string why = stopped ? *std::exchange(server_stopping_, std::nullopt) : how;
  link_ = Link::none;
  if (end_) return take();
  // Whatever was said of a restart, the next server does not know it.
  restart_follows_ = false;
  drain_at_.reset();
  pause_ = {};
  if (!welcome_) {
    look_for_first_server(now, why);
  } else if (welcome_->embedded) {
    end_with(
        {.kind = Verdict::Kind::lost,
         .exit_code = kCannotWork,
         .text = "node " + welcome_->server_host + ", which hosts the rendezvous, is lost: " + why,
         .host_stopped = stopped});
  } else {
    look_for_daemon(now, why);
  }
  return take();
}

// A server that ends while we join is no reason not to wait for the next one.
void Member::look_for_first_server(Time now, const std::string& why) {
  const nanoseconds left = began_ + options_.join_timeout - now;
  if (left > left.zero()) return connect(now, left, kPauseBetweenMemberships);
  end_with({.kind = Verdict::Kind::lost,
            .exit_code = kCannotWork,
            .text = "this node could not join at " + options_.endpoint + " within " +
                    span_text(options_.join_timeout) + ": " + why});
}

void Member::look_for_daemon(Time now, const std::string& why) {
  const bool lasted =
      now >= member_since_ + kLasting || (options_.several_servers && other_server_);
  if (lasted || !lost_since_) lost_since_ = now;
  const nanoseconds left = *lost_since_ + options_.reconnect_timeout - now;
  if (!lasted && left <= left.zero())
    return end_with({.kind = Verdict::Kind::lost,
                     .exit_code = kCannotWork,
                     .text = "the rendezvous at " + options_.endpoint +
                             " takes this node and loses it at once, again and again: " + why});
  give(Say{
      "lost the rendezvous at " + options_.endpoint + ": " + why +
          (work_ == Work::running ? "; the workers go on" : "") + ", looking for it for " +
          span_text(left),
  });
  // Who stops its workers has no place to come back to and joins when they have ended, unless the
  // others have to hear why.
  if (work_ != Work::stopping || failed_)
    connect(now, left, lasted ? nanoseconds{} : kPauseBetweenMemberships);
}

Orders Member::on_gave_up(Time, const std::string& why) {
  link_ = Link::none;
  end_with({.kind = Verdict::Kind::lost,
            .exit_code = kCannotWork,
            .text = (welcome_ ? "the rendezvous is lost: " + why : why) + also_cannot_host()});
  return take();
}

Orders Member::on_started(Time, protocol::Started started) {
  started_ = std::move(started);
  if (link_ == Link::member && !end_) give(Send{*started_});
  return take();
}

// The workers' own supervision stops the others already.
Orders Member::on_worker_failed(Time now, protocol::Failed failed) {
  if (work_ == Work::running) work_ = Work::stopping;
  if (end_) return take();
  failed_at_ = now - failed.age;
  failed_ = std::move(failed);
  if (link_ == Link::member) send_failed(now);
  return take();
}

Orders Member::on_round_ended(Time now, bool success) {
  if (end_) {
    work_ = Work::stopped;
    return take();
  }
  if (work_ == Work::running && success) {
    work_ = Work::finished;
    waiting_since_ = now;
    if (link_ == Link::member) give(Send{protocol::Finished{assignment_->round}});
    return take();
  }
  work_ = Work::stopped;
  if (link_ == Link::none) {
    lost_since_ = now;
    connect(now, options_.reconnect_timeout);
  }
  drain(now);
  return take();
}

// The server waits for this before it begins the next round, so a pause here is one for all.
void Member::drain(Time now) {
  work_ = Work::stopped;
  if (link_ != Link::member || !restart_follows_) return;
  if (pause_ > pause_.zero()) drain_at_ = now + std::exchange(pause_, {});
  if (drain_at_ && now < *drain_at_) return;
  drain_at_.reset();
  work_ = Work::idle;
  give(SayDrained{assignment_->round});
}

Orders Member::on_stacks(Time, protocol::StacksDone done) {
  if (link_ == Link::member) give(Send{std::move(done)});
  return take();
}

Orders Member::on_leaving(Time, const std::string& why, std::optional<int> exit_code) {
  if (end_) return take();
  end_ = Verdict{.kind = Verdict::Kind::local, .text = why};
  say_goodbye(why, exit_code);
  if (work_ == Work::running) work_ = Work::stopping;
  return take();
}

Orders Member::on_unable(Time, const std::string& why) {
  if (end_) return take();
  say_goodbye(why);
  end_with({.kind = Verdict::Kind::lost, .exit_code = kCannotWork, .text = why});
  return take();
}

// While it joins, behind its Join.
void Member::say_goodbye(const std::string& why, std::optional<int> exit_code) {
  if (link_ == Link::member || link_ == Link::joining) give(Send{protocol::Leave{why, exit_code}});
}

Orders Member::on_time(Time now) {
  if (drain_at_ && now >= *drain_at_ && !end_) drain(now);
  say_unreachable(now);
  say_waiting(now);
  return take();
}

void Member::stop_workers(const std::string& why) {
  work_ = Work::stopping;
  give(StopRound{why});
}

// The first reason counts.
void Member::end_with(Verdict verdict) {
  if (end_) return;
  end_ = std::move(verdict);
  if (work_ == Work::running) stop_workers(end_->text);
}

std::optional<Time> Member::next_wake() const {
  if (end_) return {};
  std::optional<Time> at = drain_at_;
  const auto also = [&at](Time time) { at = at ? std::min(*at, time) : time; };
  if (!unreachable_.empty()) also(say_at_);
  if (!waiting_.empty()) also(waiting_since_ + kFirstWord);
  return at;
}

Orders Member::take() {
  if (end_ && !ended_ && work_ != Work::running && work_ != Work::stopping) {
    ended_ = true;
    give(End{*end_});
  }
  Orders orders = std::exchange(orders_, {});
  orders.wake_at = next_wake();
  return orders;
}

}  // namespace ddprun::membership
