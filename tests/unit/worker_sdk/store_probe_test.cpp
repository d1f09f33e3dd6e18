#include "worker_sdk/src/store_probe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/integration/support/loopback_port.h"

namespace ddp::detail {
namespace {

using Port = ddprun::test::LoopbackPort;
using std::chrono::milliseconds;

void no_long_wait(const std::string& reason) {
  ADD_FAILURE() << "long wait: " << reason;
}

TEST(StoreProbe, AServerIsFoundAtOnce) {
  Port port;
  port.listen();
  EXPECT_EQ(wait_for_server("127.0.0.1", port.number(), milliseconds(5'000), no_long_wait),
            std::nullopt);
  EXPECT_EQ(wait_for_server("localhost", port.number(), milliseconds(5'000), no_long_wait),
            std::nullopt);
}

TEST(StoreProbe, TheLastReasonComesWhenTheTimeIsOver) {
  const Port port;
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(wait_for_server("127.0.0.1", port.number(), milliseconds(200), no_long_wait),
            "Connection refused");
  EXPECT_GE(std::chrono::steady_clock::now() - begin, milliseconds(200));
}

TEST(StoreProbe, AServerThatStartsLaterIsFound) {
  Port port;
  ASSERT_EQ(wait_for_server("127.0.0.1", port.number(), milliseconds(50), no_long_wait),
            "Connection refused");
  port.listen();
  EXPECT_EQ(wait_for_server("127.0.0.1", port.number(), milliseconds(5'000), no_long_wait),
            std::nullopt);
}

TEST(StoreProbe, AnUnknownHostIsTheReason) {
  // An empty label: no resolver asks the network for it.
  const auto reason = wait_for_server("no-such-host..invalid", 1, milliseconds(50), no_long_wait);
  ASSERT_TRUE(reason);
  EXPECT_THAT(*reason,
              testing::AnyOf(testing::HasSubstr("not known"), testing::HasSubstr("resolution")));
}

}  // namespace
}  // namespace ddp::detail
