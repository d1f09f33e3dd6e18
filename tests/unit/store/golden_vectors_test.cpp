// The golden vectors through protocol and store alone: no sockets, no waiting.
#include "tests/unit/data/golden_vectors.h"

#include <gtest/gtest.h>

#include "tests/unit/store/pure_server.h"

namespace ddprun::store {
namespace {

TEST(GoldenVectors, ProtocolAndStoreAnswerToTheByte) {
  PureServer server;
  const std::vector<GoldenVector> vectors = read_golden_vectors();
  EXPECT_EQ(vectors.size(), 32u);
  for (const GoldenVector& vector : vectors) {
    SCOPED_TRACE(vector.id + ": " + vector.text);
    for (const GoldenStep& step : vector.steps) {
      const auto client = static_cast<ClientId>(step.client);
      switch (step.kind) {
        case GoldenStep::Kind::kSend:
          server.send(client, step.bytes);
          break;
        case GoldenStep::Kind::kExpect:
          EXPECT_EQ(server.take(client), step.bytes);
          break;
        case GoldenStep::Kind::kSilence:
          EXPECT_EQ(server.take(client), "");
          break;
        case GoldenStep::Kind::kClosed:
          EXPECT_TRUE(server.is_closed(client));
          break;
      }
    }
    EXPECT_EQ(server.take('A') + server.take('B'), "") << "nothing more may come";
  }
}

}  // namespace
}  // namespace ddprun::store
