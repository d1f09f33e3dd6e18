#include "rendezvous/server/listener.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include "rendezvous/base/read_file.h"
#include "rendezvous/server/port_holder.h"
#include "tests/unit/server/running_server.h"

namespace ddprun::server {
namespace {

TEST(Listener, ATakenPortNamesItsHolderAndWhatToDo) {
  RunningServer server;
  ServerOptions options;
  options.port = server.port();
  options.port_advice = "give another --master-port";
  boost::asio::io_context io;
  const auto second = Server::listen(io, options);
  ASSERT_FALSE(second);
  const std::string text = second.error().text;
  EXPECT_NE(text.find("cannot listen on port " + std::to_string(server.port()) +
                      " of address 127.0.0.1: the port is held by pid " + std::to_string(getpid()) +
                      " ("),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("server_test"), std::string::npos) << text;
  EXPECT_TRUE(text.ends_with("; give another --master-port")) << text;
}

TEST(Listener, BindsExactlyTheGivenAddress) {
  const auto listener = open_listener("127.0.0.1", 0, "");
  ASSERT_TRUE(listener);
  EXPECT_EQ(RawClient().try_connect(listener->port, "127.0.0.1"), 0);
  EXPECT_NE(RawClient().try_connect(listener->port, "127.0.0.2"), 0);
}

TEST(Listener, AnEmptyAddressMeansAll) {
  const auto listener = open_listener("", 0, "");
  ASSERT_TRUE(listener) << listener.error().text;
  EXPECT_EQ(RawClient().try_connect(listener->port, "127.0.0.1"), 0);
  EXPECT_EQ(RawClient().try_connect(listener->port, "127.0.0.2"), 0);
}

// Thousands of ranks come in one moment, and the kernel drops what is behind the queue.
TEST(Listener, TakesAsManyAtOnceAsTheSystemAllows) {
  const auto listener = open_listener("127.0.0.1", 0, "");
  ASSERT_TRUE(listener);
  tcp_info info{};
  socklen_t size = sizeof info;
  ASSERT_EQ(::getsockopt(listener->socket.get(), IPPROTO_TCP, TCP_INFO, &info, &size), 0);
  const std::string allowed = read_file("/proc/sys/net/core/somaxconn").value_or("0");
  // Of a listening socket this field is the room in its accept queue.
  EXPECT_EQ(info.tcpi_sacked, std::min(65'536, std::stoi(allowed)));
}

TEST(Listener, WhatIsNoAddressOfThisHostIsRefused) {
  EXPECT_EQ(open_listener("localhost", 0, "").error().text,
            "cannot listen on 'localhost': it is no IPv4 or IPv6 address");
  EXPECT_EQ(
      open_listener("192.0.2.1", 80, "").error().text,
      "cannot listen on port 80 of address 192.0.2.1: no interface of this host has the address");
}

TEST(Listener, LimitsUnderPyTorchsAreRefusedByName) {
  boost::asio::io_context io;
  ServerOptions options;
  options.limits.max_value_bytes = 1'000;
  EXPECT_EQ(Server::listen(io, options).error().text,
            "max_value_bytes is 1000, but PyTorch's clients need 8388608");
}

constexpr std::string_view kTable =
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout "
    "inode\n"
    "   0: 0100007F:733C 0100007F:C350 01 00000000:00000000 00:00000000 00000000     0        0 "
    "111 1\n"
    "   1: 0100007F:733C 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 "
    "222 1\n"
    "   2: 0100007F:733D 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 "
    "333 1\n"
    "   3: 0100007F:733C 0100007F:C351 06 00000000:00000000 00:00000000 00000000     0        0 0 "
    "1\n"
    "   4: 00000000000000000000000001000000:733C 00000000:0000 0A 0:0 0:0 0 0 0 444 1\n"
    "garbage\n";

TEST(PortHolder, FindsTheSocketsOfAPortListeningOnesFirst) {
  EXPECT_EQ(sockets_on_port(kTable, 0x733C), (std::vector<std::uint64_t>{222, 444, 111}));
  EXPECT_EQ(sockets_on_port(kTable, 0x733D), (std::vector<std::uint64_t>{333}));
  EXPECT_TRUE(sockets_on_port(kTable, 1).empty());
}

TEST(PortHolder, APortOfNobodyHasNoHolder) {
  EXPECT_EQ(describe_port_holder(1), "a process that /proc does not show");
}

}  // namespace
}  // namespace ddprun::server
