// Starting, waiting, leaving and closing.
#include <dirent.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tests/unit/server/running_server.h"

namespace ddprun::server {
namespace {

using namespace store;

constexpr std::chrono::milliseconds kPatience{kPatienceMs};

TEST(ServerLife, ClosingEndsEveryConnectionAndTheLoop) {
  RunningServer server;
  RawClient waiting(server.port());
  RawClient at_barrier(server.port());
  RawClient idle(server.port(), false);
  waiting.send(wait({"/never"}));
  at_barrier.send(barrier("/b", 2));
  server.await([](const ServerStatistics& now) { return now.waiting == 2 && now.accepted == 3; });
  server.close();  // returns only because io.run() does
  EXPECT_TRUE(waiting.is_closed());
  EXPECT_TRUE(at_barrier.is_closed());
  EXPECT_TRUE(idle.is_closed());
  EXPECT_TRUE(server.lines().empty());
  EXPECT_NE(RawClient().try_connect(server.port(), "127.0.0.1"), 0) << "the port is free again";
}

// A server that was busy accepts many before it reads the first.
TEST(ServerLife, WhoHasSaidWhatItSpeaksIsNotTakenForSilent) {
  boost::asio::io_context io;
  auto server = std::move(Server::listen(io, {.max_unfinished_per_address = 2}).value());
  std::vector<std::unique_ptr<RawClient>> crowd;
  for (int i = 0; i < 9; ++i) crowd.push_back(std::make_unique<RawClient>(server->port()));
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (server->statistics().requests + server->statistics().over_address_limit < crowd.size() &&
         std::chrono::steady_clock::now() < deadline)
    io.run_one_for(std::chrono::milliseconds(10));
  EXPECT_EQ(server->statistics().over_address_limit, 0u);
  EXPECT_EQ(server->statistics().requests, crowd.size()) << "the greeting of each";
}

TEST(ServerLife, CallbacksThatComeAfterTheServerFindNothingToDo) {
  boost::asio::io_context io;
  ServerOptions options;
  bool logged = false;
  options.log = [&](const std::string&) { logged = true; };
  auto server = std::move(Server::listen(io, options).value());
  RawClient good(server->port());
  RawClient bad(server->port(), false);
  bad.send("garbage");
  io.run_one();  // both are accepted; their bytes are here and not read
  EXPECT_EQ(server->statistics().connections, 2u);
  server.reset();
  io.run();
  EXPECT_FALSE(logged);
  EXPECT_TRUE(good.is_closed());
}

TEST(ServerLife, AClientThatLeavesWhileItWaitsIsForgotten) {
  RunningServer server;
  RawClient stays(server.port());
  {
    RawClient leaves(server.port());
    leaves.send(wait({"/k"}));
    server.await([](const ServerStatistics& now) { return now.waiting == 1; });
  }
  server.await(
      [](const ServerStatistics& now) { return now.waiting == 0 && now.connections == 1; });
  stays.send(set("/k", "v"));
  stays.sync();
  EXPECT_TRUE(server.lines().empty());
}

TEST(ServerLife, AWaiterIsWokenByAnotherConnection) {
  RunningServer server;
  RawClient waiter(server.port());
  RawClient setter(server.port());
  waiter.send(wait({"/1", "/2"}));
  waiter.sync();
  setter.send(set("/1", ""));
  setter.sync();
  waiter.sync();
  setter.send(add("/2", 1));
  EXPECT_EQ(waiter.receive(1), kStop);
}

TEST(ServerLife, StatisticsCountWhatHappened) {
  RunningServer server;
  RawClient client(server.port());
  client.send(set("/a", std::string(1'000, 'x')) + set("/b", ""));
  client.sync();
  const ServerStatistics now = server.statistics();
  EXPECT_EQ(now.connections, 1u);
  EXPECT_EQ(now.accepted, 1u);
  EXPECT_EQ(now.requests, 4u);  // with VALIDATE and PING
  EXPECT_EQ(now.keys, 2u);
  EXPECT_GT(now.memory_bytes, 1'000u);
  EXPECT_LT(now.memory_bytes, 3'000u);
}

TEST(ServerLife, ProgramsThatAreStartedInheritNoSocket) {
  RunningServer server;
  RawClient client(server.port());
  client.sync();
  int sockets = 0;
  for (int fd = 0; fd < 1'024; ++fd) {
    struct stat status;
    if (fstat(fd, &status) != 0 || !S_ISSOCK(status.st_mode)) continue;
    sockaddr_storage local{};
    socklen_t size = sizeof local;
    getsockname(fd, reinterpret_cast<sockaddr*>(&local), &size);
    const std::uint16_t port = ntohs(reinterpret_cast<sockaddr_in*>(&local)->sin_port);
    if (local.ss_family != AF_INET || port != server.port()) continue;
    ++sockets;
    EXPECT_NE(fcntl(fd, F_GETFD) & FD_CLOEXEC, 0) << "descriptor " << fd;
  }
  EXPECT_EQ(sockets, 2) << "the listening one and the client's";
}

TEST(ServerLife, TheSamePortCanBeUsedAgainAtOnce) {
  std::uint16_t port = 0;
  for (int round = 0; round < 100; ++round) {
    boost::asio::io_context io;
    ServerOptions options;
    options.port = port;
    auto server = Server::listen(io, options);
    ASSERT_TRUE(server) << "round " << round << ": " << server.error().text;
    port = (*server)->port();
    std::vector<RawClient> clients;
    for (int i = 0; i < 50; ++i) clients.emplace_back(port);
    while ((*server)->statistics().requests < clients.size()) io.run_one();
    (*server)->close();  // the server's side closes first and keeps the connections lingering
    io.run();
  }
}

TEST(ServerLife, StartingOverKeepsThePortAndNothingElse) {
  boost::asio::io_context io;
  auto server = std::move(Server::listen(io, {}).value());
  const auto serve_until = [&](std::uint64_t keys, std::uint64_t waiting) {
    const auto reached = [&](const ServerStatistics& now) {
      return now.keys == keys && now.waiting == waiting;
    };
    while (!reached(server->statistics())) ASSERT_GT(io.run_one_for(kPatience), 0u);
  };
  RawClient old(server->port());
  old.send(set("/old", "v") + wait({"/never"}));
  serve_until(1, 1);
  RawClient unseen(server->port());
  unseen.send(set("/unseen", "v"));
  const std::uint16_t port = server->port();
  server->start_over();
  EXPECT_TRUE(old.is_closed());
  EXPECT_TRUE(unseen.is_closed());
  EXPECT_EQ(server->statistics().keys, 0u);
  EXPECT_EQ(server->statistics().waiting, 0u);
  EXPECT_EQ(server->statistics().connections, 0u);
  EXPECT_EQ(server->port(), port);
  RawClient next(port);
  next.send(set("/new", "v"));
  serve_until(1, 0);
}

TEST(ServerLife, AServerThatStopsListeningServesWhoIsThere) {
  boost::asio::io_context io;
  auto server = std::move(Server::listen(io, {}).value());
  RawClient client(server->port());
  while (server->statistics().connections < 1) ASSERT_GT(io.run_one_for(kPatience), 0u);
  server->stop_listening();
  ServerOptions same_port;
  same_port.port = server->port();
  EXPECT_TRUE(Server::listen(io, same_port)) << "the port is free for others";
  client.send(set("/k", "v"));
  while (server->statistics().keys < 1) ASSERT_GT(io.run_one_for(kPatience), 0u);
}

}  // namespace
}  // namespace ddprun::server
