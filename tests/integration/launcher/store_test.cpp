// The store that ddprun hosts serves its ranks whatever else comes to its port.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <cstdlib>
#include <fstream>
#include <memory>

#include "tests/integration/support/run.h"

namespace ddprun::test {
namespace {

const std::string kWorker = DDPRUN_TEST_WORKER;

UniqueFd connect_to(int port) {
  UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  return socket;
}

void send_text(const UniqueFd& socket, const std::string& bytes) {
  ::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
}

// Waits, 10 s at most, until the server has closed the connection.
bool is_closed(const UniqueFd& socket) {
  pollfd readable{socket.get(), POLLIN, 0};
  char byte = 0;
  return ::poll(&readable, 1, 10'000) == 1 && ::recv(socket.get(), &byte, 1, 0) <= 0;
}

TEST(StoreTest, RanksMeet) {
  const Finished end = ddprun({"-n", "8", kWorker, "store", "50", "meet"});
  EXPECT_EQ(end.code, 0) << end.err;
  EXPECT_EQ(lines(end.out).size(), 8U);
}

TEST(StoreTest, GarbageDisturbsNobody) {
  using namespace std::string_literals;
  const TemporaryFolder folder;
  const std::string fifo = folder.make_fifo("fifo");
  Program program(ddprun_words({"-n", "4", "sh", "-c",
                                "[ $RANK = 0 ] && echo port $MASTER_PORT; " + kWorker +
                                    " store 300 before || exit 1; [ $RANK = 0 ] && read line < " +
                                    fifo + "; exec " + kWorker + " store 300 after"}));
  ASSERT_TRUE(program.wait_for_output("port ") && program.wait_for_output("met"));
  const std::string text = program.out();
  const int port = std::atoi(text.c_str() + text.find("port ") + 5);
  const std::string hello = "\x00\xce\xf7\x85\x3c"s;
  const UniqueFd random = connect_to(port), half = connect_to(port), large = connect_to(port),
                 silent = connect_to(port);
  send_text(random, "\x7f\x01 random bytes \xff\xfe\xfd");
  send_text(half, hello + "\x01\x05\x00\x00"s);
  send_text(large, hello + "\x01\x00\x00\x00\x80\x00\x00\x00\x00"s);
  EXPECT_TRUE(is_closed(random));
  EXPECT_TRUE(is_closed(large));
  std::ofstream(fifo) << "go on\n";
  const Finished end = program.finish();
  EXPECT_EQ(end.code, 0) << end.err;
  EXPECT_THAT(end.err, testing::HasSubstr("ddprun: store: closed the connection of 127.0.0.1"));
}

TEST(StoreTest, ManyRunsAtOnceHaveTheirOwnPorts) {
  std::vector<std::unique_ptr<Program>> programs;
  for (int i = 0; i < 10; ++i)
    programs.push_back(
        std::make_unique<Program>(ddprun_words({"-n", "2", kWorker, "store", "5", "meet"})));
  for (auto& program : programs) EXPECT_EQ(program->finish().code, 0);
}

TEST(StoreTest, AFixedPortCanBeUsedAgainAtOnce) {
  // A port that was free a moment ago may be taken by somebody else, so there are a few tries.
  for (int tries = 0; tries < 5; ++tries) {
    const std::string port = lines(ddprun({"-n", "1", "sh", "-c", "echo $MASTER_PORT"}).out).at(0);
    const std::vector<std::string> words{"-n",    "2", "--master-port", port, kWorker,
                                         "store", "3", "meet"};
    if (ddprun(words).code == 2) continue;
    for (int i = 0; i < 3; ++i) {
      const Finished end = ddprun(words);
      ASSERT_EQ(end.code, 0) << end.err;
    }
    return;
  }
  FAIL() << "no port stayed free";
}

}  // namespace
}  // namespace ddprun::test
