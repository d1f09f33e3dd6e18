// The addresses by which a lost connection is traced to its rank.
#include "worker_sdk/src/own_sockets.h"

#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "rendezvous/base/unique_fd.h"
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

// Two ends of a connection on loopback.
struct Ends {
  Ends() {
    const ddprun::UniqueFd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(::bind(listener.get(), generic, size), 0);
    EXPECT_EQ(::listen(listener.get(), 1), 0);
    EXPECT_EQ(::getsockname(listener.get(), generic, &size), 0);
    name = "[127.0.0.1]:" + std::to_string(ntohs(address.sin_port));
    one.reset(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(::connect(one.get(), generic, size), 0);
    other.reset(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
  }
  std::string name;  // of `other`
  ddprun::UniqueFd one, other;
};

std::vector<std::string> peers(const std::vector<Connection>& connections) {
  std::vector<std::string> all;
  for (const Connection& each : connections) all.push_back(each.peer);
  return all;
}

TEST(OwnConnections, AreThoseMadeMeanwhile) {
  const Ends old;
  const auto before = own_connections();
  EXPECT_THAT(peers(before), testing::Contains(old.name));
  const Ends ends;
  const auto made = made_since(before, own_connections());
  EXPECT_THAT(peers(made), testing::Contains(ends.name));
  EXPECT_EQ(made.size(), 2u);  // both ends are in this process
}

TEST(OwnConnections, AreNoLongerHeldWhenTheyAreClosedHere) {
  Ends ends;
  auto held = own_connections();
  std::erase_if(held, [&](const Connection& each) { return each.peer != ends.name; });
  ASSERT_EQ(held.size(), 1u);
  ends.other.reset();
  EXPECT_TRUE(is_held(held[0])) << "the other end's business";
  ends.one.reset();
  const Ends again;  // with the same numbers, perhaps
  EXPECT_FALSE(is_held(held[0]));
}

TEST(OwnConnections, TellWhatHasMoved) {
  Ends ends;
  const auto both = own_connections();
  const std::uint64_t before = bytes_moved(both);
  EXPECT_EQ(bytes_moved(both), before);
  ASSERT_EQ(::write(ends.one.get(), "123", 3), 3);
  char text[3];
  ASSERT_EQ(::read(ends.other.get(), text, 3), 3);
  EXPECT_EQ(bytes_moved(both), before + 6) << "sent and received";
  ends.one.reset();
  EXPECT_LT(bytes_moved(both), before + 6);
}

}  // namespace
}  // namespace ddp::detail
