// Any messages in any order from eight connections into the roster: nothing may crash, nobody is
// told anything behind its last word, every round is consistent, and when all have gone, and nobody
// can come back any more, nothing is kept. The input is lines: a letter a-h and the JSON that this
// connection says, A-H for the end of that connection (another one takes its letter), a digit n for
// 10^n ms that pass.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>
#include <string_view>

#include "rendezvous/protocol/roster_codec.h"
#include "rendezvous/roster/runs.h"

namespace {

using namespace ddprun;

void require(bool what) {
  if (!what) std::abort();
}

void check(const protocol::Assignment& round) {
  int ranks = 0;
  std::set<roster::MemberId> members;
  for (const protocol::AssignedNode& node : round.nodes) {
    ranks += node.nproc;
    require(members.insert(node.member).second);
  }
  require(!round.nodes.empty() && ranks == round.world_size && round.store_port != 0);
}

class Simulation {
 public:
  void say(std::size_t at, std::string_view json) {
    const auto message = protocol::decode_agent_message(json);
    if (!message) return;
    obey(runs_.on_message(now_, {ids_[at], "10.0.0.1:" + std::to_string(at), at % 2 == 0},
                          *message));
  }
  void end(std::size_t at) {
    if (!closed_.contains(ids_[at])) obey(runs_.on_closed(now_, ids_[at], "it was reset"));
    renew(at);
  }
  void pass(std::chrono::milliseconds span) {
    const roster::Time until = now_ + span;
    for (int i = 0; wake_at_ && *wake_at_ <= until && i < 1'000; ++i) {
      now_ = std::max(now_, *wake_at_);
      obey(runs_.on_time(now_));
      require(!wake_at_ || *wake_at_ > now_);
    }
    now_ = std::max(now_, until);
  }
  void finish() {
    for (std::size_t at = 0; at < ids_.size(); ++at) end(at);
    // So long those who were cut off may come back, whatever timeouts a run has.
    for (int i = 0; i < 8 && wake_at_; ++i) pass(std::chrono::hours(1));
    require(runs_.size() == 0 && runs_.connections() == 0 && runs_.memory_bytes() == 0);
    require(!wake_at_);
  }

 private:
  void renew(std::size_t at) { ids_[at] = ++last_; }
  void obey(const roster::Decision& decision) {
    for (const roster::Effect& effect : decision.effects) {
      if (const auto* close = std::get_if<roster::Close>(&effect)) {
        for (const roster::MemberId id : close->members) closed_.insert(id);
        continue;
      }
      const auto& send = std::get<roster::Send>(effect);
      for (const roster::MemberId id : send.to) require(!closed_.contains(id));
      if (const auto* round = std::get_if<protocol::Assignment>(&send.message)) check(*round);
    }
    wake_at_ = decision.wake_at;
    for (std::size_t at = 0; at < ids_.size(); ++at)
      if (closed_.contains(ids_[at])) renew(at);
  }

  roster::Runs runs_{roster::Server{.id = "s", .host = "hub", .version = "0.1.0"},
                     roster::RunsOptions{.max_memory_bytes = 100'000}};
  roster::Time now_{};
  std::optional<roster::Time> wake_at_;
  std::array<roster::MemberId, 8> ids_{1, 2, 3, 4, 5, 6, 7, 8};
  roster::MemberId last_ = 8;
  std::set<roster::MemberId> closed_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  Simulation simulation;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    if (line.empty()) continue;
    const char first = line.front();
    if (first >= 'a' && first <= 'h')
      simulation.say(static_cast<std::size_t>(first - 'a'), line.substr(1));
    else if (first >= 'A' && first <= 'H')
      simulation.end(static_cast<std::size_t>(first - 'A'));
    else if (first >= '0' && first <= '6')
      simulation.pass(std::chrono::milliseconds(static_cast<int>(std::pow(10, first - '0'))));
  }
  simulation.finish();
  return 0;
}
