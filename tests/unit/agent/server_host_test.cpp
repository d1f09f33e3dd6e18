// Who hosts the server, when what decides it comes at the same moment as a timer.
#include "launcher/agent/server_host.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <boost/asio/ip/tcp.hpp>
#include <functional>
#include <optional>
#include <thread>

#include "rendezvous/base/unique_fd.h"

namespace ddprun::agent {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;
using boost::asio::ip::tcp;

// Node rank 0 of two, whose endpoint is no address of this host: an rdzvd may be there.
class ServerHostTest : public testing::Test {
 protected:
  ServerHostTest() {
    cli::RendezvousSpec& spec = job_.spec.rendezvous;
    spec.kind = cli::RendezvousSpec::Kind::fixed;
    spec.min_nodes = spec.max_nodes = 2;
    spec.node_rank = {.value = 0};
    spec.endpoint.value.host = "192.0.2.1";
    hooks_.connect = [this](const std::string& host) { connected_.push_back(host); };
    hooks_.waits = hooks_.cannot_host = hooks_.gave_up = hooks_.say = [](const std::string&) {};
  }

  // A port that nobody had just now, of all addresses.
  void use(const tcp::acceptor& port) {
    job_.spec.rendezvous.endpoint.value.port = port.local_endpoint().port();
  }
  tcp::acceptor take_a_port() { return {io_, tcp::endpoint(tcp::v6(), 0)}; }

  // Runs the event loop until `holds`, in time.
  bool comes_true(const std::function<bool()>& holds) {
    const auto until = Clock::now() + 10s;
    while (!holds() && Clock::now() < until) {
      io_.restart();
      io_.run_one_for(100ms);
    }
    return holds();
  }

  // Calls `what` from the event loop when all timers that fall due within `span` are due already,
  // so that their handlers are queued behind it and no cancellation reaches them.
  void before_timers_within(std::chrono::milliseconds span, std::function<void()> what) {
    boost::asio::steady_timer first(io_, Clock::now());
    bool called = false;
    first.async_wait([&](boost::system::error_code) {
      called = true;
      what();
    });
    std::this_thread::sleep_until(Clock::now() + span);
    io_.restart();
    while (!called) io_.run_one();
    io_.poll();
  }

  boost::asio::io_context io_{1};
  Job job_{.spec = {},
           .plan = {},
           .environment = cli::Environment{std::vector<std::string>{}},
           .host = "here",
           .programs = Programs::in({}, cli::Environment{std::vector<std::string>{}}).value(),
           .link = {},
           .timings = {}};
  const UniqueFd nowhere_{::open("/dev/null", O_WRONLY | O_CLOEXEC)};
  output::Options options_{.stdout_fd = nowhere_.get(), .stderr_fd = nowhere_.get()};
  output::Output output_{io_, options_};
  ServerHostHooks hooks_;
  std::vector<std::string> connected_;
};

TEST_F(ServerHostTest, AServerThatAnswersWhileOthersAreWatchedForIsJoined) {
  std::optional<ServerHost> host;
  for (int tries = 0; tries < 5 && !(host && host->undecided()); ++tries) {
    use(take_a_port());  // somebody else may have it before the host does
    connected_.clear();
    host.emplace(io_, job_, output_, hooks_);
    host->find(10s);
    ASSERT_TRUE(comes_true([&] { return !connected_.empty(); }));
  }
  ASSERT_NE(host->server(), nullptr);
  before_timers_within(60ms, [&] { EXPECT_TRUE(host->on_answer()); });
  EXPECT_EQ(host->server(), nullptr) << "it has given its own one up";
  EXPECT_EQ(connected_, std::vector<std::string>{"192.0.2.1"}) << "and connects to no other";
}

// Somebody has the port at first, and has it no more when it is tried again.
TEST_F(ServerHostTest, WhoHasJoinedElsewhereTakesThePortNoMore) {
  std::optional<tcp::acceptor> taken(take_a_port());
  use(*taken);
  ServerHost host(io_, job_, output_, hooks_);
  host.find(10s);
  ASSERT_TRUE(comes_true([&] { return !connected_.empty(); }));
  ASSERT_EQ(host.server(), nullptr);
  taken.reset();
  before_timers_within(510ms, [&] { host.stop_looking(); });
  EXPECT_EQ(host.server(), nullptr);
  EXPECT_EQ(connected_, std::vector<std::string>{"192.0.2.1"});
}

}  // namespace
}  // namespace ddprun::agent
