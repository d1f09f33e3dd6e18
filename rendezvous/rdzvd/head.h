// This rdzvd among the others that share one etcd: stands for election, keeps there what its runs
// must not forget, and steps aside in time. The shell around election::Election.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "rendezvous/election/election.h"
#include "rendezvous/etcd/client.h"
#include "rendezvous/etcd/place.h"
#include "rendezvous/protocol/roster_messages.h"
#include "rendezvous/protocol/run_record.h"
#include "rendezvous/server/keeper.h"
#include "rendezvous/server/severity.h"

namespace ddprun::rdzvd {

struct HeadOptions {
  etcd::Place place;
  std::chrono::seconds lease{5};
  std::string id;  // of this process
};

// Called from the event loop.
struct HeadHooks {
  std::function<void(const std::vector<protocol::Record>&)> take_office;
  std::function<void(protocol::Elsewhere)> stand_by;
  std::function<void(server::Severity, const std::string&)> log;
};

// Used on the thread that runs `io` only.
class Head final : public server::Keeper {
 public:
  // Borrows `io`. Nothing is done yet.
  Head(boost::asio::io_context& io, HeadOptions options, HeadHooks hooks);

  // `address`: HOST:PORT, where agents reach this rdzvd.
  void start(std::string address);
  // Gives the office up, so that the next one need not wait; `done` comes when etcd knows it, or
  // has not answered in time. Nothing is told to the server any more.
  void resign(std::function<void()> done);

  void write(std::vector<roster::Change> changes, std::function<void()> written) override;
  bool leads() const override { return serving_ && election_.leads(Clock::now()); }
  server::Standing standing() const override;

 private:
  using Clock = std::chrono::steady_clock;
  // Goes to etcd in one piece, or in several where it is large.
  struct Batch {
    std::map<std::string, std::optional<std::string>> changes;
    std::vector<std::function<void()>> written;
    Clock::time_point since;  // asked for, or the last part of it written
  };

  void obey(election::Decision decision);
  void carry_out(const election::Order& order);
  void carry_out_question(const election::Order& order);
  void ask(etcd::Request request, std::function<election::Decision(const std::string&)> on_answer);
  election::Decision on_head(const std::string& body);
  election::Decision on_lease(election::Time asked, const std::string& body);
  election::Decision on_claimed(const std::string& body);
  election::Decision on_kept(election::Time asked, const std::string& body);
  election::Decision unreadable(const Error& error);
  election::Holder holder_of(const etcd::KeyValue& key) const;
  std::optional<election::Holder> found_in(const etcd::Outcome& outcome) const;
  void take_office(const election::Holder& holder);
  void leave_office(const std::string& why);
  void stand_by(const election::Follow& where);
  void load(const std::string& prefix, const std::string& after);
  void load_again(const Error& why);
  void on_loaded(const std::string& prefix, const std::string& body);
  void serve();
  void commit();
  void leave_out_large(roster::Change& change);
  void tell_waiting(const std::string& what, const std::string& why);
  void tell_end_of_waiting();
  void commit_again(const Error& why);
  void on_committed(const std::vector<etcd::Put>& puts, const std::string& body);
  void again(void (*next)(Head&));
  std::string value() const;

  HeadOptions options_;
  std::string address_;
  HeadHooks hooks_;
  etcd::Client etcd_;
  election::Election election_;
  boost::asio::steady_timer wake_;
  boost::asio::steady_timer pause_;
  std::uint64_t question_ = 0;  // the last one of the election
  std::uint64_t term_ = 0;      // in and out of office; what belongs to another one is dropped
  election::LeaseId lease_ = 0;
  election::Holder office_;
  bool serving_ = false;
  std::vector<protocol::Record> records_;  // while they are read
  std::string load_prefix_, load_after_;
  int load_most_ = 0;  // keys at once
  Batch next_;         // what came since
  Batch present_;      // what is being written
  bool writing_ = false;
  bool told_ = false;                // that etcd makes it wait
  std::uint64_t terms_ = 0;          // in office
  std::set<std::string> too_large_;  // keys of what is not kept
};

}  // namespace ddprun::rdzvd
