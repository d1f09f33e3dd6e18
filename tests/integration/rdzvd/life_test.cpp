// How rdzvd starts, speaks with a service manager, and ends.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/integration/rdzvd/real_rdzvd.h"
#include "tests/integration/support/loopback_port.h"

namespace ddprun::test {
namespace {

using server::RawAgent;
using server::RawClient;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST(Rdzvd, PrintsItsRealAddressAndEndsWithZero) {
  RealRdzvd rdzvd;
  EXPECT_THAT(rdzvd.address(), StartsWith("127.0.0.1:"));
  EXPECT_NE(rdzvd.port(), 0);
  RawAgent agent(rdzvd.port());
  agent.say(server::join_of("r", "a", 2));
  ASSERT_TRUE(agent.await<protocol::Welcome>());
  ::kill(rdzvd.program().pid(), SIGTERM);
  const auto stopping = agent.await<protocol::ServerStopping>();
  ASSERT_TRUE(stopping);
  EXPECT_THAT(stopping->why, HasSubstr("was stopped by SIGTERM"));
  EXPECT_TRUE(agent.is_closed());
  agent.close();
  const Finished end = rdzvd.program().finish();
  EXPECT_EQ(end.code, 0) << end.err;
  EXPECT_EQ(end.out, rdzvd.address() + "\n") << "nothing else on stdout";
  EXPECT_THAT(end.err, HasSubstr("info: rdzvd "));
}

TEST(Rdzvd, ASecondSignalEndsItAtOnce) {
  RealRdzvd rdzvd;
  RawAgent agent(rdzvd.port());
  agent.say(server::join_of("r", "a", 2));
  ASSERT_TRUE(agent.await<protocol::Welcome>());
  ::kill(rdzvd.program().pid(), SIGTERM);
  ASSERT_TRUE(agent.await<protocol::ServerStopping>());  // and it keeps its connection
  ::kill(rdzvd.program().pid(), SIGTERM);
  EXPECT_EQ(rdzvd.program().finish().code, 0);
}

TEST(Rdzvd, HangupSaysThatNothingCanBeReadAgain) {
  RealRdzvd rdzvd;
  ::kill(rdzvd.program().pid(), SIGHUP);
  EXPECT_TRUE(
      rdzvd.program().wait_for_error("SIGHUP: there is neither a token file nor a certificate"));
  EXPECT_THAT(get_page(rdzvd.port(), "/healthz"), HasSubstr("\r\n\r\nok\n"));
  EXPECT_EQ(rdzvd.stop().code, 0);
}

TEST(Rdzvd, MistakesOnTheCommandLineAreOneLine) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> mistakes{
      {{"--listen", "host:port"}, "--listen: 'host:port' does not end with :PORT"},
      {{"--http", "yes"}, "--http is 'yes', on or off is needed"},
      {{"--max-memory", "4T"}, "--max-memory is '4T', at least 64M is needed"},
      {{"--handshake-timeout", "0"}, "--handshake-timeout is '0', a number of seconds"},
      {{"--no-such"}, "there is no option --no-such"},
      {{"word"}, "see rdzvd --help"}};
  for (const auto& [words, text] : mistakes) {
    std::vector<std::string> all{DDPRUN_RDZVD};
    all.insert(all.end(), words.begin(), words.end());
    const Finished end = run(all);
    EXPECT_EQ(end.code, 2) << text;
    EXPECT_THAT(end.err, HasSubstr(text));
    EXPECT_EQ(lines(end.err).size(), 1u);
  }
}

TEST(Rdzvd, APortThatIsTakenIsNamedWithItsHolder) {
  LoopbackPort taken;
  taken.listen();
  const Finished end =
      run({DDPRUN_RDZVD, "--listen", "127.0.0.1:" + std::to_string(taken.number())});
  EXPECT_EQ(end.code, 1);
  EXPECT_THAT(end.err, HasSubstr("error: cannot listen on port " + std::to_string(taken.number())));
  EXPECT_THAT(end.err, HasSubstr("pid " + std::to_string(::getpid())));
  EXPECT_THAT(end.err, HasSubstr("give another port with --listen"));
}

// A name that is too long is refused without asking a name server.
TEST(Rdzvd, AHostThatDoesNotResolveIsSaid) {
  const std::string name(70, 'x');
  const Finished end = run({DDPRUN_RDZVD, "--listen", name + ":0"});
  EXPECT_EQ(end.code, 1);
  EXPECT_THAT(end.err, HasSubstr("the host name '" + name + "' does not resolve"));
}

TEST(Rdzvd, SignalsEndItWhileANameIsLookedUp) {
  for (const int signal : {SIGTERM, SIGINT}) {
    Program rdzvd({DDPRUN_RDZVD, "--listen", "somewhere:0"},
                  {.environment = {std::string("LD_PRELOAD=") + DDPRUN_ENDLESS_LOOKUP}});
    ASSERT_TRUE(rdzvd.wait_for_error("looking up somewhere"));
    ::kill(rdzvd.pid(), SIGHUP);  // nothing to read again yet
    ::kill(rdzvd.pid(), signal);
    const Finished end = rdzvd.finish();
    EXPECT_EQ(end.code, 0);
    EXPECT_EQ(end.signal, 0);
    EXPECT_FALSE(end.timed_out);
  }
}

TEST(Rdzvd, LocalhostMeansLoopback) {
  Program rdzvd({DDPRUN_RDZVD, "--listen", "localhost:0"});
  ASSERT_TRUE(rdzvd.wait_for_output("\n"));
  EXPECT_THAT(rdzvd.out(), testing::AnyOf(StartsWith("127.0.0.1:"), StartsWith("[::1]:")));
}

TEST(Rdzvd, OpensAsManyFilesAsItMay) {
  RealRdzvd rdzvd;
  const Finished limits = run(
      {"/bin/grep", "open files", "/proc/" + std::to_string(rdzvd.program().pid()) + "/limits"});
  std::istringstream words(limits.out);
  std::string max, open, files, soft, hard;
  words >> max >> open >> files >> soft >> hard;
  EXPECT_EQ(soft, hard) << limits.out;
}

// The other end of sd_notify(3).
class NotifySocket {
 public:
  NotifySocket() {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path().copy(address.sun_path, sizeof address.sun_path - 1);
    EXPECT_EQ(::bind(fd_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  }
  std::string path() const { return folder_ / "notify"; }
  // The next message, or what came instead of it.
  std::string next() {
    pollfd entry{fd_.get(), POLLIN, 0};
    if (::poll(&entry, 1, server::kPatienceMs) <= 0) return "nothing came";
    std::string text(4096, '\0');
    const ssize_t size = ::recv(fd_.get(), text.data(), text.size(), 0);
    text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
    return text;
  }

 private:
  TemporaryFolder folder_;
  UniqueFd fd_{::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
};

TEST(Rdzvd, TellsTheServiceManager) {
  NotifySocket manager;
  RealRdzvd rdzvd({}, {.environment = {"NOTIFY_SOCKET=" + manager.path()}});
  EXPECT_EQ(manager.next(), "READY=1");
  EXPECT_EQ(manager.next(), "STATUS=listening on " + rdzvd.address() + ", 0 runs, 0 agents");
  ::kill(rdzvd.program().pid(), SIGTERM);
  EXPECT_THAT(manager.next(), StartsWith("STOPPING=1\nSTATUS="));
  EXPECT_EQ(rdzvd.program().finish().code, 0);
}

// As systemd starts it: descriptor 3 is `fd`.
std::vector<std::string> activated(int fd, const std::string& count = "1") {
  return {"/bin/bash", "-c",
          "export LISTEN_PID=$$ LISTEN_FDS=" + count + "; exec \"$0\" 3<&" + std::to_string(fd),
          DDPRUN_RDZVD};
}

TEST(Rdzvd, ServesASocketThatIsHandedOver) {
  const UniqueFd socket(::socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ASSERT_EQ(::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(::listen(socket.get(), 8), 0);
  ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size);
  const std::uint16_t port = ntohs(address.sin_port);
  RawClient early(port, false);  // before rdzvd runs
  early.send("GET /healthz HTTP/1.1\r\n\r\n");
  Program rdzvd(activated(socket.get()));
  EXPECT_THAT(early.receive_all(), HasSubstr("\r\n\r\nok\n"));
  ASSERT_TRUE(rdzvd.wait_for_output("\n"));
  EXPECT_EQ(rdzvd.out(), "127.0.0.1:" + std::to_string(port) + "\n");
  ::kill(rdzvd.pid(), SIGTERM);
  EXPECT_EQ(rdzvd.finish().code, 0);
}

TEST(Rdzvd, WhatIsHandedOverMustBeOneListeningSocket) {
  const UniqueFd file(::open("/dev/null", O_RDONLY));
  const Finished no_socket = run(activated(file.get()));
  EXPECT_EQ(no_socket.code, 1);
  EXPECT_THAT(no_socket.err, HasSubstr("descriptor 3 is no listening TCP socket"));
  const Finished two = run(activated(file.get(), "2"));
  EXPECT_EQ(two.code, 1);
  EXPECT_THAT(two.err, HasSubstr("hands over 2 sockets (LISTEN_FDS), one is needed"));
}

TEST(Rdzvd, WithoutStoreAndPagesOnlyAgentsAreServed) {
  RealRdzvd rdzvd({"--http", "off", "--store", "off"});
  RawClient store(rdzvd.port());
  EXPECT_TRUE(store.is_closed());
  EXPECT_EQ(get_page(rdzvd.port(), "/"), "");
  RawAgent agent(rdzvd.port());
  agent.say(server::join_of("r", "a", 2));
  EXPECT_TRUE(agent.await<protocol::Welcome>());
  agent.close();
  const Finished end = rdzvd.stop();
  EXPECT_THAT(end.err, HasSubstr("it speaks the c10d store protocol; only the roster protocol is "
                                 "served here"));
  EXPECT_THAT(end.err, HasSubstr("it speaks HTTP; only the roster protocol is served here"));
}

}  // namespace
}  // namespace ddprun::test
