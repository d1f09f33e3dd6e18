// Any bytes as what the last head has left of a run: what can be read is written alike, and a head
// that goes on with it, and to which nobody comes, forgets it in the end and leaves nothing.
#include <cstdint>
#include <map>
#include <string>

#include "rendezvous/protocol/roster_codec.h"
#include "rendezvous/roster/runs.h"
#include "tests/fuzz/checks.h"

namespace {

using namespace ddprun;
using fuzz::require;

class Head {
 public:
  explicit Head(const protocol::Record& record) {
    obey(runs_.restore(now_, {record}));
    for (int i = 0; i < 10'000 && wake_at_; ++i) {
      require(*wake_at_ > now_);
      now_ = *wake_at_;
      obey(runs_.on_time(now_));
    }
  }
  bool is_empty() const { return runs_.size() == 0 && runs_.memory_bytes() == 0; }
  const std::map<std::string, std::string>& kept() const { return kept_; }

 private:
  void obey(const roster::Decision& decision) {
    for (const roster::Effect& effect : decision.effects)
      if (const auto* send = std::get_if<roster::Send>(&effect)) require(send->to.empty());
    for (const roster::Change& change : decision.changes) {
      kept_.erase(change.key);
      if (change.value) kept_[change.key] = *change.value;
    }
    wake_at_ = decision.wake_at;
  }

  roster::Time now_{};
  std::optional<roster::Time> wake_at_;
  roster::Runs runs_{{.id = "s", .host = "h", .version = "1", .durable = true}};
  std::map<std::string, std::string> kept_;
};

// Spans of hours would only make it slow.
bool is_short(const protocol::Record& record) {
  const auto* run = std::get_if<protocol::RunRecord>(&record);
  if (run == nullptr) return true;
  const protocol::Terms& terms = run->terms;
  const std::chrono::minutes most(10);
  return terms.join_timeout <= most && terms.reconnect_timeout <= most &&
         terms.ping_interval >= std::chrono::milliseconds(500) && terms.ping_interval <= most &&
         terms.ping_attempts <= 10;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto record = protocol::decode_record(fuzz::view_of(data, size));
  if (!record) return 0;
  const std::string json = protocol::encode(*record);
  const auto again = protocol::decode_record(json);
  require(again && protocol::encode(*again) == json);
  if (!is_short(*record)) return 0;
  const Head head(*record);
  require(head.is_empty());
  require(head.kept().empty());
  return 0;
}
