// What the next server has to find of the runs, as decisions change it; see protocol::Record. Pure.
// Nothing is noted on a server that is not durable.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "rendezvous/roster/run.h"
#include "rendezvous/roster/types.h"

namespace ddprun::roster {

class Changes {
 public:
  explicit Changes(bool durable) : durable_(durable) {}

  // A run that goes on, begun by that network (see Peer), unless `written`, its mark when it was
  // noted last, says that nothing counts of what has changed since.
  void note(const Run& run, const std::string& begun_by, std::optional<Run::Mark>& written);
  // How a run has ended, if its nodes were told something. The run itself is to be forgotten.
  void note_end(const Run& run);
  void forget(const std::string& run);
  void forget_end(const std::string& run_directory);

  // All since the last call; each key once, the last that was said of it.
  std::vector<Change> take();

 private:
  bool durable_;
  std::map<std::string, std::optional<std::string>> changes_;
};

}  // namespace ddprun::roster
