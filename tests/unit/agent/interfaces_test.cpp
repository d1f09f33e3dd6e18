#include "launcher/agent/interfaces.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ddprun::agent {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

const std::vector<Interface> kHost{{"lo", "127.0.0.1"},         {"lo", "::1"},
                                   {"docker0", "172.17.0.1"},   {"br-1f2e3d4c5b6a", "172.18.0.1"},
                                   {"virbr0", "192.168.122.1"}, {"ib0", "10.1.0.7"},
                                   {"eth0", "192.168.1.7"},     {"br0", "10.2.0.7"},
                                   {"veth12ab", "169.254.3.4"}};

TEST(InterfacesTest, OthersAreNotSentToNetworksThatAreInsideThisHost) {
  EXPECT_THAT(addresses_for_others(kHost, ""), ElementsAre("10.1.0.7", "192.168.1.7", "10.2.0.7"));
}

TEST(InterfacesTest, TheAddressForTheWorldOutsideComesFirst) {
  EXPECT_THAT(addresses_for_others(kHost, "192.168.1.7"),
              ElementsAre("192.168.1.7", "10.1.0.7", "10.2.0.7"));
}

TEST(InterfacesTest, WithoutANetworkThereIsNothingToTell) {
  EXPECT_THAT(addresses_for_others({{"lo", "127.0.0.1"}}, ""), IsEmpty());
}

TEST(InterfacesTest, ThisHostHasLoopback) {
  EXPECT_THAT(addresses_of(interfaces()), Contains("127.0.0.1"));
  const std::string outside = default_address();
  if (outside.empty()) return;
  EXPECT_THAT(addresses_of(interfaces()), Contains(outside));
}

}  // namespace
}  // namespace ddprun::agent
