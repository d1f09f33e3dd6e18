// Random calls, such that a wrong order shows: few keys, each value only once.
#pragma once

#include <random>

#include "tests/unit/linearizability/history.h"

namespace ddprun::linearizability {

class Workload {
 public:
  // `client` makes its values differ from those of others.
  Workload(unsigned seed, std::size_t client);

  Call next();

 private:
  Call on_counter();
  Call on_text();
  Call on_queue();
  Call on_pair();
  std::string new_value();

  std::mt19937 random_;
  std::size_t client_;
  int values_ = 0;
};

}  // namespace ddprun::linearizability
