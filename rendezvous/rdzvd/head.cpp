#include "rendezvous/rdzvd/head.h"

#include <algorithm>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <utility>

#include "rendezvous/base/printable.h"
#include "rendezvous/protocol/roster_codec.h"
#include "rendezvous/roster/wording.h"

namespace ddprun::rdzvd {
namespace {

namespace json = boost::json;
using server::Severity;
using std::chrono::milliseconds;

// Of etcd: 128 operations and 1.5 MB in a transaction.
constexpr std::size_t kMostChanges = 64;
constexpr std::size_t kMostBytes = 512 << 10;
constexpr std::size_t kMostOfOne = 1 << 20;  // etcd takes 1.5 MB, with what is around it
constexpr int kKeysAtOnce = 64;
constexpr milliseconds kPause{100};  // before an unanswered write, or reading, is tried again
constexpr milliseconds kLastTry{1'000};

std::string head_key(const etcd::Place& place) {
  return place.prefix + "head";
}

// A question must be answered while the lease has time for another one.
milliseconds limit_of(std::chrono::seconds lease) {
  return std::clamp<milliseconds>(milliseconds(lease) / 5, milliseconds(300), milliseconds(2'000));
}

std::string text_in(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains(name);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : "";
}

}  // namespace

Head::Head(boost::asio::io_context& io, HeadOptions options, HeadHooks hooks)
    : options_(std::move(options)),
      hooks_(std::move(hooks)),
      etcd_(io, {.members = options_.place.members, .limit = limit_of(options_.lease)}),
      election_({.server = options_.id, .address = ""}),
      wake_(io),
      pause_(io) {}

void Head::start(std::string address) {
  address_ = std::move(address);
  election_ = election::Election(
      {.server = options_.id, .address = address_, .key = head_key(options_.place)});
  obey(election_.start(Clock::now()));
}

void Head::resign(std::function<void()> done) {
  ++question_;
  ++term_;
  serving_ = false;
  const election::Decision last = election_.resign(Clock::now());
  wake_.cancel();
  pause_.cancel();
  const election::Revoke* revoke = nullptr;
  for (const election::Order& order : last.orders)
    if (const auto* found = std::get_if<election::Revoke>(&order)) revoke = found;
  if (revoke == nullptr) return done();
  // The timer and the answer race; whoever is second finds nothing to do.
  const auto end = std::make_shared<std::function<void()>>(std::move(done));
  const auto once = [end] {
    if (*end) std::exchange(*end, nullptr)();
  };
  etcd_.ask(etcd::revoke(revoke->lease), [once](const Result<std::string>&) { once(); });
  pause_.expires_after(kLastTry);
  pause_.async_wait([once](boost::system::error_code canceled) {
    if (!canceled) once();
  });
}

// ---- the election ----

void Head::obey(election::Decision decision) {
  for (const election::Order& order : decision.orders) carry_out(order);
  if (!decision.wake_at) return;
  wake_.expires_at(*decision.wake_at);
  wake_.async_wait([this](boost::system::error_code canceled) {
    if (!canceled) obey(election_.on_time(Clock::now()));
  });
}

void Head::carry_out(const election::Order& order) {
  if (const auto* office = std::get_if<election::TakeOffice>(&order))
    return take_office(office->holder);
  if (const auto* leave = std::get_if<election::LeaveOffice>(&order))
    return leave_office(leave->why);
  if (const auto* follow = std::get_if<election::Follow>(&order)) return stand_by(*follow);
  if (const auto* revoke = std::get_if<election::Revoke>(&order))
    return etcd_.ask(etcd::revoke(revoke->lease), [](const Result<std::string>&) {});
  carry_out_question(order);
}

void Head::carry_out_question(const election::Order& order) {
  const election::Time now = Clock::now();
  if (std::holds_alternative<election::Look>(order))
    return ask(etcd::read_key(head_key(options_.place)),
               [this](const std::string& body) { return on_head(body); });
  if (std::holds_alternative<election::AskLease>(order))
    return ask(etcd::grant_lease(options_.lease),
               [this, now](const std::string& body) { return on_lease(now, body); });
  if (const auto* claim = std::get_if<election::Claim>(&order)) {
    lease_ = claim->lease;
    return ask(etcd::claim_key(head_key(options_.place), value(), lease_),
               [this](const std::string& body) { return on_claimed(body); });
  }
  ask(etcd::keep_alive(std::get<election::KeepAlive>(order).lease),
      [this, now](const std::string& body) { return on_kept(now, body); });
}

void Head::ask(etcd::Request request,
               std::function<election::Decision(const std::string&)> on_answer) {
  etcd_.ask(std::move(request), [this, question = ++question_,
                                 take = std::move(on_answer)](const Result<std::string>& answer) {
    if (question != question_) return;
    obey(answer ? take(*answer) : election_.on_unanswered(Clock::now(), answer.error().text));
  });
}

election::Decision Head::unreadable(const Error& error) {
  etcd_.pass_over();
  return election_.on_unanswered(Clock::now(), error.text);
}

std::string Head::value() const {
  return json::serialize(json::object{{"server", options_.id}, {"address", address_}});
}

// Whoever cannot be read is somebody all the same.
election::Holder Head::holder_of(const etcd::KeyValue& key) const {
  election::Holder holder{.server = "",
                          .address = "",
                          .lease = key.lease,
                          .revision = key.create_revision,
                          .version = key.version};
  json::error_code error;
  const json::value value = json::parse(key.value, error);
  if (error || !value.is_object()) return holder;
  holder.server = text_in(value.get_object(), "server");
  holder.address = text_in(value.get_object(), "address");
  return holder;
}

election::Decision Head::on_head(const std::string& body) {
  const auto keys = etcd::read_listing(body);
  if (!keys) return unreadable(keys.error());
  if (keys->keys.empty()) return election_.on_found(Clock::now(), {});
  return election_.on_found(Clock::now(), holder_of(keys->keys.front()));
}

election::Decision Head::on_lease(election::Time asked, const std::string& body) {
  const auto lease = etcd::read_lease(body);
  if (!lease) return unreadable(lease.error());
  return election_.on_lease(Clock::now(), asked, lease->id, lease->life);
}

std::optional<election::Holder> Head::found_in(const etcd::Outcome& outcome) const {
  if (!outcome.found) return {};
  return holder_of(*outcome.found);
}

election::Decision Head::on_claimed(const std::string& body) {
  const auto outcome = etcd::read_outcome(body);
  if (!outcome) return unreadable(outcome.error());
  if (outcome->done)
    return election_.on_claimed(Clock::now(), {.server = options_.id,
                                               .address = address_,
                                               .lease = lease_,
                                               .revision = outcome->revision,
                                               .version = 1});
  if (!outcome->found) return unreadable({"the head's key came and went"});
  return election_.on_claimed(Clock::now(), holder_of(*outcome->found));
}

election::Decision Head::on_kept(election::Time asked, const std::string& body) {
  const auto lease = etcd::read_lease(body);
  if (!lease) return unreadable(lease.error());
  return election_.on_kept(Clock::now(), asked, lease->life);
}

// ---- in and out of office ----

void Head::take_office(const election::Holder& holder) {
  ++term_;
  office_ = holder;
  records_.clear();
  next_ = present_ = {};
  writing_ = told_ = false;
  too_large_.clear();
  load_most_ = kKeysAtOnce;
  hooks_.stand_by({.endpoint = {}, .why = "the rdzvd here has just become the head"});
  load(options_.place.prefix + "ended/", "");
}

void Head::leave_office(const std::string& why) {
  ++term_;
  serving_ = false;
  office_ = {};
  next_ = present_ = {};
  pause_.cancel();
  hooks_.log(Severity::warning, "not the head any more: " + why);
}

void Head::stand_by(const election::Follow& where) {
  hooks_.log(where.address ? Severity::info : Severity::warning, "standing by: " + where.why);
  hooks_.stand_by({.endpoint = where.address, .why = where.why});
}

// First how runs have ended, then those that go on.
void Head::load(const std::string& prefix, const std::string& after) {
  load_prefix_ = prefix;
  load_after_ = after;
  etcd_.ask(etcd::list_keys(prefix, after, load_most_),
            [this, prefix, term = term_](const Result<std::string>& answer) {
              if (term != term_) return;
              if (answer) return on_loaded(prefix, *answer);
              load_most_ = std::max(1, load_most_ / 2);  // large ones take their time
              load_again(answer.error());
            });
}

void Head::load_again(const Error& why) {
  tell_waiting("reading what the last head has left waits for etcd", why.text);
  again([](Head& self) { self.load(self.load_prefix_, self.load_after_); });
}

void Head::on_loaded(const std::string& prefix, const std::string& body) {
  const auto listing = etcd::read_listing(body);
  if (!listing) {
    etcd_.pass_over();
    return load_again(listing.error());
  }
  for (const etcd::KeyValue& each : listing->keys) {
    auto record = protocol::decode_record(each.value);
    if (record)
      records_.push_back(std::move(*record));
    else
      hooks_.log(Severity::error, "what the last head has left at " + printable(each.key) +
                                      " cannot be read, and is left out: " + record.error().text);
  }
  if (listing->more && !listing->keys.empty()) return load(prefix, listing->keys.back().key);
  const std::string runs = options_.place.prefix + "runs/";
  if (prefix != runs) return load(runs, "");
  serve();
}

void Head::serve() {
  tell_end_of_waiting();
  serving_ = true;
  ++terms_;
  hooks_.log(Severity::info, "this rdzvd is the head now, as " + address_ + "; it goes on with " +
                                 roster::count_text(records_.size(), "record") + " of runs");
  hooks_.take_office(std::exchange(records_, {}));
}

// ---- what must not be forgotten ----

void Head::write(std::vector<roster::Change> changes, std::function<void()> written) {
  if (next_.written.empty()) next_.since = Clock::now();
  // Of two changes of one key only the later one counts: nobody was told of the earlier one.
  for (roster::Change& change : changes) {
    leave_out_large(change);
    next_.changes[change.key] = std::move(change.value);
  }
  next_.written.push_back(std::move(written));
  if (!writing_) commit();
}

// One that etcd never takes must not hold up all others.
void Head::leave_out_large(roster::Change& change) {
  if (!change.value || change.value->size() <= kMostOfOne) {
    too_large_.erase(change.key);
    return;
  }
  if (too_large_.insert(change.key).second)
    hooks_.log(Severity::error,
               printable(change.key) + " has " + std::to_string(change.value->size()) +
                   " bytes, more than etcd takes, and is not kept: the next head would know of "
                   "this run only what its nodes tell");
  change.value.reset();
}

void Head::tell_waiting(const std::string& what, const std::string& why) {
  if (!std::exchange(told_, true)) hooks_.log(Severity::warning, what + ": " + why);
}

void Head::tell_end_of_waiting() {
  if (std::exchange(told_, false)) hooks_.log(Severity::info, "etcd answers again");
}

server::Standing Head::standing() const {
  server::Standing now{.serves = leads(), .terms = terms_};
  if (serving_ && (writing_ || !next_.written.empty()))
    now.unwritten = Clock::now() - (writing_ ? present_ : next_).since;
  return now;
}

void Head::commit() {
  if (present_.changes.empty()) {
    if (next_.written.empty()) return;
    present_ = std::exchange(next_, {});
  }
  writing_ = true;
  std::vector<etcd::Put> puts;
  std::size_t bytes = 0;
  for (const auto& [key, value] : present_.changes) {
    bytes += key.size() + (value ? value->size() : 0);
    if (!puts.empty() && (puts.size() == kMostChanges || bytes > kMostBytes)) break;
    puts.push_back({options_.place.prefix + key, value});
  }
  const etcd::Fence fence{.key = head_key(options_.place),
                          .value = value(),
                          .lease = office_.lease,
                          .create_revision = office_.revision,
                          .version = office_.version};
  etcd_.ask(etcd::write_fenced(fence, puts),
            [this, puts, term = term_](const Result<std::string>& answer) {
              if (term != term_) return;
              if (answer) return on_committed(puts, *answer);
              commit_again(answer.error());
            });
}

void Head::commit_again(const Error& why) {
  tell_waiting("a write waits for etcd", why.text);
  if (Clock::now() > present_.since + options_.lease)
    return obey(election_.on_unwritten(Clock::now(), why.text));
  again([](Head& self) { self.commit(); });
}

void Head::on_committed(const std::vector<etcd::Put>& puts, const std::string& body) {
  const auto outcome = etcd::read_outcome(body);
  if (!outcome) {
    etcd_.pass_over();
    return commit_again(outcome.error());
  }
  // A try of this write whose answer was lost may have come through.
  const bool was_done = outcome->found && outcome->found->create_revision == office_.revision &&
                        outcome->found->version == office_.version + 1;
  if (!outcome->done && !was_done)
    return obey(election_.on_fenced(Clock::now(), found_in(*outcome)));
  ++office_.version;
  tell_end_of_waiting();
  for (const etcd::Put& put : puts)
    present_.changes.erase(put.key.substr(options_.place.prefix.size()));
  present_.since = Clock::now();
  if (!present_.changes.empty()) return commit();
  writing_ = false;
  for (const auto& written : std::exchange(present_.written, {})) {
    const auto term = term_;
    written();
    if (term != term_) return;
  }
  if (!writing_) commit();
}

void Head::again(void (*next)(Head&)) {
  pause_.expires_after(kPause);
  pause_.async_wait([this, next, term = term_](boost::system::error_code canceled) {
    if (!canceled && term == term_) next(*this);
  });
}

}  // namespace ddprun::rdzvd
