// What counts as one peer.
#include "rendezvous/server/peer.h"

#include <gtest/gtest.h>

namespace ddprun::server {
namespace {

namespace ip = boost::asio::ip;

std::string network_of(const char* address) {
  return network_text({ip::make_address(address), 4711});
}

TEST(Peer, AnIpv4AddressCountsByItself) {
  EXPECT_EQ(network_of("10.0.0.2"), "10.0.0.2");
  EXPECT_EQ(network_of("::ffff:10.0.0.2"), "10.0.0.2") << "to a socket of both families";
}

TEST(Peer, TheAddressesOfOneIpv6NetworkCountTogether) {
  EXPECT_EQ(network_of("fd00:1:2:3::1"), "fd00:1:2:3::/64");
  EXPECT_EQ(network_of("fd00:1:2:3:ffff:1234:5678:9abc"), "fd00:1:2:3::/64");
  EXPECT_EQ(network_of("fd00:1:2:4::1"), "fd00:1:2:4::/64");
}

TEST(Peer, EachLinkHasItsOwnLocalNetwork) {
  const auto on_link = [](unsigned int link) {
    return network_text({ip::address_v6(ip::make_address_v6("fe80::1").to_bytes(), link), 4711});
  };
  EXPECT_EQ(on_link(1), "fe80::%lo/64");
  EXPECT_NE(on_link(1), on_link(2));
}

}  // namespace
}  // namespace ddprun::server
