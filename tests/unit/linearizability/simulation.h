// Several clients and the real store on a simulated network, with a fault in the store if wanted:
// to see that the check finds it.
#pragma once

#include "tests/unit/linearizability/history.h"

namespace ddprun::linearizability {

enum class Fault {
  none,
  lost_update,       // ADD writes what it has read some time ago
  stale_read,        // GET answers with what it has read some time ago
  late_write,        // SET returns before it takes effect
  torn_write,        // MULTI_SET writes its keys one after the other
  split_compare,     // COMPARE_SET compares some time before it writes
  item_twice,        // QUEUE_POP leaves the item there
  lost_item,         // QUEUE_PUSH forgets it
  early_wake,        // WAIT returns without the key
  forgotten_delete,  // DELETE_KEY says that it did, and did not
};

// The same seed gives the same history. Not each of them shows the fault.
History simulate(unsigned seed, Fault fault, std::size_t clients = 5, std::size_t calls = 120);

}  // namespace ddprun::linearizability
