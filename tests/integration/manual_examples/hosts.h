// The hosts of the manual, for examples with a prompt such as "gpu01$ ".
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tests/integration/manual_examples/example.h"
#include "tests/integration/netns/network.h"

namespace ddprun::test {

// "head", "gpu01" and "gpu02": network namespaces with these names, which know each other by
// /etc/hosts and share the folder in which commands are typed. A `systemctl` stands for systemd: it
// starts and restarts rdzvd.
class ManualHosts {
 public:
  ManualHosts();
  // Ends what runs in the background.
  ~ManualHosts();

  // Types the examples of a page as people at all hosts would: those of a block that are on
  // different hosts at the same time, the next block when they have ended. What differs from the
  // page is a failure of the running test, with `page` in front of its line.
  void run(const std::string& page, const std::vector<Example>& examples);

 private:
  struct Typed {
    Example example;
    std::unique_ptr<Program> program;
  };
  void run_block(const std::string& page, std::vector<Example> block);
  std::unique_ptr<Program> start(const Example& example);
  void finish(const std::string& page, Typed& typed);

  TemporaryFolder folder_;
  Network network_{3};
  std::vector<Typed> background_;
};

// Fails the running test where the command ended otherwise, or wrote other lines, than the example
// shows.
void expect_shown(const std::string& page, const Example& example, const Finished& end);

}  // namespace ddprun::test
