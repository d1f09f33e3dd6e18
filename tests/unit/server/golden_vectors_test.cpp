// The golden vectors over TCP, and the same bytes one at a time.
#include "tests/unit/data/golden_vectors.h"

#include <gtest/gtest.h>

#include <map>

#include "tests/unit/server/running_server.h"

namespace ddprun::server {
namespace {

using Kind = GoldenStep::Kind;

// A request without an answer to come at once must have been applied before the other client goes
// on.
bool needs_sync(const std::vector<GoldenStep>& steps, std::size_t i) {
  if (i + 1 == steps.size()) return true;
  const GoldenStep& next = steps[i + 1];
  return next.client != steps[i].client || next.kind == Kind::kSend;
}

void send(RawClient& client, const std::string& bytes, bool byte_by_byte) {
  if (!byte_by_byte) return client.send(bytes);
  for (const char byte : bytes) client.send({&byte, 1});
}

void replay(bool byte_by_byte) {
  RunningServer server;
  std::map<char, RawClient> clients;
  clients.try_emplace('A', server.port(), false);
  clients.try_emplace('B', server.port(), false);
  for (const GoldenVector& vector : read_golden_vectors()) {
    SCOPED_TRACE(vector.id + ": " + vector.text);
    for (std::size_t i = 0; i < vector.steps.size(); ++i) {
      const GoldenStep& step = vector.steps[i];
      RawClient& client = clients.at(step.client);
      switch (step.kind) {
        case Kind::kSend:
          send(client, step.bytes, byte_by_byte);
          if (needs_sync(vector.steps, i)) client.sync();
          break;
        case Kind::kExpect:
          EXPECT_EQ(client.receive(step.bytes.size()), step.bytes);
          break;
        case Kind::kSilence:
          client.sync();
          break;
        case Kind::kClosed:
          EXPECT_TRUE(client.is_closed());
          break;
      }
    }
  }
  EXPECT_EQ(server.lines().size(), 1u) << "about the unknown operation";
}

TEST(GoldenVectorsOverTcp, AreAnsweredToTheByte) {
  replay(false);
}

TEST(GoldenVectorsOverTcp, OneBytePerWriteChangesNothing) {
  replay(true);
}

}  // namespace
}  // namespace ddprun::server
