// ddprun --hosts with a program in the place of ssh, which starts the command on this host.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "tests/integration/support/run.h"
#include "tests/support/temporary_folder.h"

namespace ddprun::test {

using Words = std::vector<std::string>;
using std::chrono::seconds;

// Shells that run the script of a worker, not the ddpruns that have it among their words.
std::vector<pid_t> workers_of(const std::string& marker);
// Waits at most `limit` until there is none any more.
bool no_worker_of(const std::string& marker, std::chrono::milliseconds limit);

class StandIn : public testing::Test {
 protected:
  StandIn() { set(""); }

  // What stands before the start of the command; $host is the host, "$@" the command.
  void set(const std::string& script);
  std::string rsh() const { return folder_.path() + "/rsh"; }

  Words words(const std::string& hosts, const Words& options, const Words& command) const;
  Finished job(const std::string& hosts, const Words& options, const Words& command) const {
    return ddprun(words(hosts, options, command), {.limit = seconds(60)});
  }
  // In the command line of this test's workers.
  static std::string mark();

  TemporaryFolder folder_;
};

}  // namespace ddprun::test
