#include "launcher/agent/slurm_host.h"

#include <utility>

#include "launcher/cluster/slurm_node.h"
#include "rendezvous/base/span_text.h"

namespace ddprun::agent {
namespace {

constexpr std::chrono::milliseconds kResolverAlone{1'000};  // then Slurm is asked as well
constexpr std::chrono::milliseconds kSlurm{5'000};
constexpr std::chrono::milliseconds kPause{1'000};  // before Slurm is asked again

// The next one may say something else: a busy controller, one that is just restarted.
bool may_pass(const ToolFailure& failure) {
  return failure.kind != ToolFailure::Kind::not_there && !cluster::is_no_such_node(failure.output);
}

}  // namespace

SlurmHost::SlurmHost(boost::asio::io_context& io, const cli::Environment& environment,
                     std::string name, Clock::time_point deadline, Waits waits, Done done)
    : io_(io),
      environment_(environment),
      name_(std::move(name)),
      deadline_(deadline),
      waits_(std::move(waits)),
      done_(std::move(done)),
      resolver_("looking up '" + name_ + "' takes longer than " + span_text(kResolverAlone)),
      patience_(io) {
  look_up_.emplace(io_, name_, [this](const auto& found) { on_looked_up(found); });
  patience_.expires_after(kResolverAlone);
  patience_.async_wait([this](boost::system::error_code canceled) {
    if (!canceled) ask_slurm();
  });
}

void SlurmHost::on_looked_up(const Result<client::Addresses>& found) {
  if (found) return finish(Found{name_});
  resolver_ = "'" + name_ + "' cannot be looked up: " + found.error().text;
  no_such_name_ = client::is_no_such_name(found.error());
  ask_slurm();
}

void SlurmHost::ask_slurm() {
  if (scontrol_) return;
  patience_.cancel();
  scontrol_.emplace(io_, std::vector<std::string>{"scontrol", "--oneliner", "show", "node", name_},
                    environment_, kSlurm,
                    [this](const auto& answer) { on_slurm_answered(answer); });
}

void SlurmHost::on_slurm_answered(const ToolAnswer& answer) {
  const auto address = answer ? cluster::node_address(*answer) : std::nullopt;
  if (address && *address != name_)
    return finish(
        Found{*address, resolver_ + "; Slurm has " + *address + " for it (scontrol show node)"});
  if (!no_such_name_) return finish(Found{name_});
  if (!answer && may_pass(answer.error()) && Clock::now() + kPause < deadline_) {
    ask_slurm_again();
    return waits_(resolver_ + "; " + answer.error().text + "; it is asked again");
  }
  finish(Error{resolver_ + "; Slurm has no other address for it (" +
               (answer ? "scontrol show node " + name_ : answer.error().text) +
               "); give --master-addr, an address of the job's first node"});
}

void SlurmHost::ask_slurm_again() {
  patience_.expires_after(kPause);
  patience_.async_wait([this](boost::system::error_code canceled) {
    if (canceled) return;
    scontrol_.reset();
    ask_slurm();
  });
}

void SlurmHost::finish(Result<Found> found) {
  patience_.cancel();
  if (Done tell = std::exchange(done_, nullptr)) tell(std::move(found));
}

}  // namespace ddprun::agent
