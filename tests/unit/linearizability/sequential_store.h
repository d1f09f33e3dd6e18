// The store as one client alone would see it, too simple to be wrong: what a linearizable one must
// be like at each moment.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>

#include "tests/unit/linearizability/history.h"

namespace ddprun::linearizability {

class SequentialStore {
 public:
  // Applies the call; the answer is what a client must get now. Nothing, and no change, for a WAIT
  // whose keys are not there: its answer may not come now.
  std::optional<Answer> apply(const Call& call);

  // Two stores with the same text answer alike for ever.
  std::string text() const;

 private:
  bool exists(const std::string& key) const;
  bool all_exist(const Call& call) const;
  std::string value(const std::string& key) const;
  Answer add(const Call& call);
  Answer compare_set(const Call& call);
  Answer pop(const std::string& name);

  std::map<std::string, std::string> keys_;
  std::map<std::string, std::deque<std::string>> queues_;  // none of them empty
};

}  // namespace ddprun::linearizability
