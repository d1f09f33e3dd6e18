// The addresses by which a lost connection is traced to its rank.
#include "worker_sdk/src/own_sockets.h"

#include <gmock/gmock.h>

#include "tests/integration/support/loopback_port.h"

namespace ddp::detail {
namespace {

TEST(AddressIn, FindsGloosForm) {
  EXPECT_EQ(address_in("Connection closed by peer [127.0.0.1]:28300"), "[127.0.0.1]:28300");
  EXPECT_EQ(address_in("[pair.cc:538] Read error [fe80::1]:80: reset by peer"), "[fe80::1]:80");
  EXPECT_EQ(address_in("[a]: b [10.0.0.1]:5."), "[10.0.0.1]:5");
  EXPECT_EQ(address_in("[1, 2]: no address"), "");
  EXPECT_EQ(address_in(""), "");
}

TEST(WithSwappedPort, ExchangesTheTwoBytes) {
  EXPECT_EQ(with_swapped_port("[127.0.0.1]:5844"), "[127.0.0.1]:54294");
  EXPECT_EQ(with_swapped_port("[::1]:54294"), "[::1]:5844");
  EXPECT_EQ(with_swapped_port(""), "");
}

TEST(OwnSockets, AreThoseThatAreBound) {
  std::string address;
  {
    const ddprun::test::LoopbackPort bound;
    address = "[127.0.0.1]:" + std::to_string(bound.number());
    EXPECT_THAT(own_socket_addresses(), testing::Contains(address));
  }
  EXPECT_THAT(own_socket_addresses(), testing::Not(testing::Contains(address)));
}

}  // namespace
}  // namespace ddp::detail
