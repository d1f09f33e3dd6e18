// The real server under many clients at once: is there one order of all their requests?
#include <gtest/gtest.h>

#include <latch>
#include <thread>

#include "tests/unit/linearizability/checker.h"
#include "tests/unit/linearizability/recorder.h"
#include "tests/unit/linearizability/workload.h"
#include "tests/unit/server/running_server.h"

namespace ddprun::linearizability {
namespace {

constexpr std::size_t kClients = 6;
constexpr int kCalls = 200, kSeeds = 6;

// The calls of one client; from time to time it sends several before it reads.
void talk(Recorder& recorder, unsigned seed, std::size_t client, bool at_once) {
  Workload workload(seed, client);
  std::mt19937 random(static_cast<std::mt19937::result_type>(seed + client));
  for (int call = 0; call < kCalls; ++call) {
    if (!at_once || random() % 3 != 0) {
      recorder.ask(workload.next());
      continue;
    }
    std::vector<Call> calls;
    for (unsigned i = random() % 3; i < 3; ++i) {
      const Call next = workload.next();
      if (next.operation != Operation::kWait) calls.push_back(next);
    }
    recorder.ask_at_once(calls);
  }
}

// All clients in threads of their own, which begin together. `leaves`: the last request of some of
// them is one whose answer they do not wait for.
History record(std::uint16_t port, unsigned seed, bool at_once, bool leaves) {
  std::vector<History> histories(kClients);
  std::latch ready(kClients);
  std::vector<std::thread> threads;
  for (std::size_t client = 0; client < kClients; ++client) {
    threads.emplace_back([&, client] {
      Recorder recorder(client, port);
      ready.arrive_and_wait();
      talk(recorder, seed, client, at_once);
      if (leaves && client % 2 == 0)
        recorder.ask_and_leave({.operation = Operation::kAdd, .keys = {"/count/0"}, .number = 1});
      histories[client] = recorder.take();
    });
  }
  for (std::thread& thread : threads) thread.join();
  History all;
  for (History& part : histories)
    all.insert(all.end(), std::make_move_iterator(part.begin()),
               std::make_move_iterator(part.end()));
  return all;
}

void expect_linearizable(bool at_once, bool leaves) {
  int undecided = 0;
  for (int seed = 0; seed < kSeeds; ++seed) {
    server::RunningServer server;
    const History history = record(server.port(), static_cast<unsigned>(seed), at_once, leaves);
    EXPECT_GE(history.size(), kClients * kCalls);
    const Verdict verdict = check(history);
    // On a busy machine so much may overlap that the search takes too long; that says nothing.
    if (verdict.kind == Verdict::Kind::undecided)
      ++undecided;
    else
      ASSERT_EQ(verdict.kind, Verdict::Kind::linearizable)
          << "seed " << seed << ": " << verdict.text;
  }
  EXPECT_LE(undecided, kSeeds / 2);
}

TEST(LinearizabilityOfTheServer, ClientsThatWaitForEachAnswer) {
  expect_linearizable(false, false);
}

TEST(LinearizabilityOfTheServer, ClientsThatSendSeveralRequestsAtOnce) {
  expect_linearizable(true, false);
}

TEST(LinearizabilityOfTheServer, ClientsThatCloseTheirConnectionsBehindARequest) {
  expect_linearizable(true, true);
}

}  // namespace
}  // namespace ddprun::linearizability
