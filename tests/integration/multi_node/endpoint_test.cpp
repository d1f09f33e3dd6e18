// What is found at the endpoint: other programs, servers that do not answer, a port that is taken.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>

#include <optional>
#include <thread>

#include "tests/integration/multi_node/nodes.h"
#include "tests/integration/support/loopback_port.h"

namespace ddprun::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// Answers one connection with `bytes`, at once or when it has read a line, and reads until it is
// closed.
class OneAnswer {
 public:
  explicit OneAnswer(std::string bytes, bool to_a_line = false)
      : to_a_line_(to_a_line), thread_([this, bytes = std::move(bytes)] { serve(bytes); }) {}
  ~OneAnswer() { thread_.join(); }
  std::string port() const { return std::to_string(port_.number()); }

 private:
  static int listen(LoopbackPort& port) {
    port.listen();
    return 0;
  }
  void serve(const std::string& bytes) {
    const int fd = ::accept4(port_.descriptor(), nullptr, nullptr, SOCK_CLOEXEC);
    for (char c = 0; to_a_line_ && c != '\n';)
      if (::read(fd, &c, 1) <= 0) break;
    ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    char rest[4096];
    while (::read(fd, rest, sizeof rest) > 0) {
    }
    ::close(fd);
  }

  bool to_a_line_;
  LoopbackPort port_;
  int listening_ = listen(port_);
  std::thread thread_;
};

std::unique_ptr<Program> node_at(const std::string& port, int rank, const Words& options = {}) {
  Words words{"--nnodes",      "2",         "--node-rank",   std::to_string(rank),
              "--master-addr", "127.0.0.1", "--master-port", port};
  words.insert(words.end(), options.begin(), options.end());
  return start(words, shell("exit 0"));
}

TEST(EndpointTest, AWebServerIsNamedAtOnce) {
  const OneAnswer server("HTTP/1.1 400 Bad Request\r\n\r\n");
  const Finished end = node_at(server.port(), 1)->finish();
  EXPECT_EQ(end.code, 125);
  EXPECT_THAT(end.err, HasSubstr("127.0.0.1:" + server.port() + " is taken by a web server"));
}

// As Python's http.server: it waits for a line, and answers it without a word of HTTP.
TEST(EndpointTest, AWebServerThatReadsLinesIsNamedAtOnce) {
  const OneAnswer server("<!DOCTYPE HTML>\n<html lang=\"en\">\n", /*to_a_line=*/true);
  const Finished end = node_at(server.port(), 1)->finish();
  EXPECT_EQ(end.code, 125);
  EXPECT_THAT(end.err, HasSubstr("is taken by a web server (it answers '<!DOCTYPE HTML>')"));
  EXPECT_LT(end.took, std::chrono::seconds(5));
}

TEST(EndpointTest, AServerThatNeverAnswersIsSaidAndGivenUpInTime) {
  const OneAnswer server(std::string("DDPR\1\0\0\0", 8));
  const Finished end = node_at(server.port(), 1, {"--rdzv-conf", "join_timeout=2"})->finish();
  EXPECT_EQ(end.code, 125);
  EXPECT_THAT(end.err, HasSubstr("waiting for the rendezvous at 127.0.0.1:" + server.port() +
                                 ": it takes connections and does not answer (for 1 s)"));
  EXPECT_THAT(end.err, HasSubstr("within 2 s: it takes connections and does not answer"));
}

TEST(EndpointTest, AnAnswerMayTakeAsLongAsTheReadTimeout) {
  const OneAnswer server(std::string("DDPR\1\0\0\0", 8));
  const auto node = node_at(server.port(), 1, {"--rdzv-conf", "read_timeout=1"});
  EXPECT_TRUE(node->wait_for_error("has not answered for 1 s (read_timeout)"));
  ::kill(node->pid(), SIGTERM);
  node->finish();
}

// The node that is to host cannot, and the one who has the port says nothing.
TEST(EndpointTest, WhoHasThePortIsSaidSoonAndAtTheEnd) {
  LoopbackPort port;
  port.listen();
  const Finished end =
      node_at(std::to_string(port.number()), 0, {"--rdzv-conf", "join_timeout=2"})->finish();
  EXPECT_EQ(end.code, 125);
  const std::string why =
      "this node cannot host it: cannot listen on port " + std::to_string(port.number()) +
      " of address 127.0.0.1: the port is held by pid " + std::to_string(::getpid());
  EXPECT_THAT(line_with(end.err, "ddprun: waiting for"), HasSubstr(why));
  EXPECT_THAT(line_with(end.err, "ddprun: 127.0.0.1:"),
              AllOf(HasSubstr("within 2 s: somebody takes connections there and says nothing"),
                    HasSubstr(why)));
}

// It cannot be had, and nobody is there who could host instead.
TEST(EndpointTest, APortThatIsHeldAndNotServedEndsAtOnce) {
  const LoopbackPort port;
  const Finished end = node_at(std::to_string(port.number()), 0)->finish();
  EXPECT_FALSE(end.timed_out);
  EXPECT_EQ(end.code, 125);
  EXPECT_THAT(end.err, AllOf(HasSubstr("nobody listens at 127.0.0.1:"),
                             HasSubstr("this node cannot host it: cannot listen on port ")));
}

TEST(EndpointTest, APortThatBecomesFreeIsTaken) {
  std::optional<LoopbackPort> port(std::in_place);
  port->listen();
  const std::string number = std::to_string(port->number());
  const auto first = node_at(number, 0);
  ASSERT_TRUE(first->wait_for_error("this node cannot host it"));
  const auto second = node_at(number, 1);
  port.reset();
  const Finished end = first->finish();
  EXPECT_EQ(end.code, 0) << end.err;
  EXPECT_EQ(second->finish().code, 0);
}

TEST(EndpointTest, AnotherRunIsNamedAtOnce) {
  const FixedJob job(2);
  const auto first = job.node(0, shell("exit 0"), {"--rdzv-id", "old"});
  ASSERT_TRUE(first->wait_for_error("node rank 1 is missing"));
  const Finished refused = job.node(1, shell("exit 0"), {"--rdzv-id", "new"})->finish();
  EXPECT_EQ(refused.code, 125);
  EXPECT_THAT(refused.err, HasSubstr("this endpoint belongs to run old"));
  ::kill(first->pid(), SIGTERM);
  first->finish();
}

}  // namespace
}  // namespace ddprun::test
