// Where the store of a job on one node listens.
#include <gtest/gtest.h>

#include "launcher/agent/agent.h"

namespace ddprun::agent {
namespace {

std::string address(std::optional<std::string> given) {
  cli::JobSpec spec;
  spec.master_addr = std::move(given);
  return store_address(spec);
}

TEST(StoreAddressTest, IsLoopbackWhateverIsAskedFor) {
  EXPECT_EQ(address({}), "127.0.0.1");
  EXPECT_EQ(address("localhost"), "127.0.0.1");
  EXPECT_EQ(address("gpu07.example"), "127.0.0.1");
  EXPECT_EQ(address("0.0.0.0"), "127.0.0.1");
  EXPECT_EQ(address("10.1.2.3"), "127.0.0.1");
}

TEST(StoreAddressTest, ALoopbackAddressIsKept) {
  EXPECT_EQ(address("127.0.0.7"), "127.0.0.7");
  EXPECT_EQ(address("::1"), "::1");
}

}  // namespace
}  // namespace ddprun::agent
