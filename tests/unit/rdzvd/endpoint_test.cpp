// HOST:PORT in all its forms, and which address is bound for it.
#include "rendezvous/base/endpoint.h"

#include <gmock/gmock.h>

#include "rendezvous/server/listen_address.h"

namespace ddprun {
namespace {

using testing::HasSubstr;

TEST(Endpoint, HasManyForms) {
  const std::vector<std::tuple<std::string, std::string, int>> forms{{"host", "host", 29400},
                                                                     {"host:1", "host", 1},
                                                                     {":7", "", 7},
                                                                     {"10.0.0.1:0", "10.0.0.1", 0},
                                                                     {"[fd00::1]:8", "fd00::1", 8},
                                                                     {"[::1]", "::1", 29400},
                                                                     {"fd00::1", "fd00::1", 29400},
                                                                     {"", "", 29400}};
  for (const auto& [text, host, port] : forms) {
    const auto endpoint = parse_endpoint(text);
    ASSERT_TRUE(endpoint) << text;
    EXPECT_EQ(endpoint->host, host) << text;
    EXPECT_EQ(endpoint->port, port) << text;
  }
  EXPECT_EQ(to_text(Endpoint{"fd00::1", 8}), "[fd00::1]:8");
  EXPECT_EQ(to_text(Endpoint{"host", 8}), "host:8");
}

TEST(Endpoint, MistakesAreNamed) {
  for (const char* text : {"host:", "host:x", "host:65536", "host:-1", "[::1]x", "[::1]:"})
    EXPECT_THAT(parse_endpoint(text).error().text, HasSubstr("does not end with :PORT")) << text;
  EXPECT_THAT(parse_endpoint("[::1").error().text, HasSubstr("has a [ without ]"));
  EXPECT_EQ(parse_endpoint("29400").error().text, "'29400' has no host; write :29400");
  EXPECT_EQ(parse_endpoint("http://head:29400/").error().text,
            "'http://head:29400/' is a URL; write head:29400");
  EXPECT_EQ(parse_endpoint("fd00::1:29400").error().text,
            "'fd00::1:29400' is an IPv6 address without its brackets; write [fd00::1]:29400");
  EXPECT_THAT(parse_endpoint("a:b:c").error().text, HasSubstr("is no address"));
  EXPECT_EQ(parse_endpoint("fe80::1%eth0")->host, "fe80::1%eth0");
  for (const char* text : {"fe80::1%", "fe80::1%e://", "fe80::1%e/x", "fe80::1%[e]"})
    EXPECT_FALSE(parse_endpoint(text)) << text;
}

TEST(ListenAddress, LiteralsAreBoundExactly) {
  EXPECT_EQ(server::choose_listen_address("127.0.0.1", {}, true).address, "127.0.0.1");
  EXPECT_EQ(server::choose_listen_address("::1", {}, true).address, "::1");
  EXPECT_EQ(server::choose_listen_address("", {}, true).address, "");
}

TEST(ListenAddress, ANameOfThisHostThatMeansLoopbackIsNoWishForIt) {
  for (const char* name : {"localhost", "localhost.localdomain", "ip6-loopback", "a.localhost"})
    EXPECT_EQ(server::choose_listen_address(name, {"127.0.0.1"}, true).address, "127.0.0.1");
  const auto many = server::choose_listen_address("node1", {"127.0.1.1"}, true);
  EXPECT_EQ(many.address, "");
  EXPECT_THAT(many.note, HasSubstr("the name node1 resolves to 127.0.1.1 on this host"));
  const auto alone = server::choose_listen_address("node1", {"127.0.1.1"}, false);
  EXPECT_EQ(alone.address, "127.0.1.1");
  EXPECT_EQ(alone.note, "");
  EXPECT_EQ(server::choose_listen_address("localhost", {"::1"}, true).address, "::1");
  EXPECT_EQ(server::choose_listen_address("node1", {"10.0.0.7"}, true).address, "10.0.0.7");
}

}  // namespace
}  // namespace ddprun
