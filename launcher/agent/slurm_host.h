// Where a node of a Slurm job is: the name that Slurm has for it may be known to nobody else.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "launcher/agent/asked_tool.h"
#include "launcher/cli/environment.h"
#include "rendezvous/client/look_up.h"

namespace ddprun::agent {

// Asks the resolver, and scontrol where that has no answer. Used on the thread that runs `io`.
class SlurmHost {
 public:
  using Clock = std::chrono::steady_clock;
  struct Found {
    std::string host;         // the name itself, or the address that Slurm has for it
    std::string notice = {};  // for the user; empty: nothing to say
  };
  // The Error says that there is no such name, in the words of both, and what to do. Where the
  // resolver may still find it, it is found as it is.
  using Done = std::function<void(Result<Found>)>;

  // What keeps it waiting, each time that it has not got an answer; the owner stays.
  using Waits = std::function<void(const std::string& why)>;

  // Borrows `io` and `environment`. `done` is called once, from the event loop, within
  // seconds; where only Slurm can know the name and could not be asked, it is asked again until
  // `deadline`.
  SlurmHost(boost::asio::io_context& io, const cli::Environment& environment, std::string name,
            Clock::time_point deadline, Waits waits, Done done);

 private:
  void on_looked_up(const Result<client::Addresses>& found);
  void ask_slurm();
  void ask_slurm_again();
  void on_slurm_answered(const ToolAnswer& answer);
  void finish(Result<Found> found);

  boost::asio::io_context& io_;
  const cli::Environment& environment_;
  std::string name_;
  Clock::time_point deadline_;
  Waits waits_;
  Done done_;
  std::string resolver_;       // what there is to say of it, up to now
  bool no_such_name_ = false;  // it is sure
  boost::asio::steady_timer patience_;
  std::optional<client::LookUp> look_up_;
  std::optional<AskedTool> scontrol_;
};

}  // namespace ddprun::agent
