#include "launcher/hosts/flow.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <random>

namespace ddprun::hosts {
namespace {

using testing::ElementsAre;

Lines of(int index, int stream, std::size_t bytes) {
  return {index, stream, std::string(bytes, 'x')};
}

TEST(Allowance, IsSpentByWhatWasReadHoweverMuchItWas) {
  Allowance allowance(10);
  allowance.spend(9);
  EXPECT_FALSE(allowance.spent());
  allowance.spend(100);
  EXPECT_TRUE(allowance.spent());
  allowance.add(99);
  EXPECT_TRUE(allowance.spent());
  allowance.add(1);
  EXPECT_FALSE(allowance.spent());
}

TEST(Debts, AreSettledWhenTheyAreWorthAMessage) {
  Debts debts(2, 10);
  debts.take(of(1, 2, 4));
  EXPECT_FALSE(debts.settle(1, 2));
  debts.take(of(1, 2, 3));
  EXPECT_FALSE(debts.settle(1, 1));
  EXPECT_FALSE(debts.settle(0, 2));
  EXPECT_EQ(debts.settle(1, 2), (Credit{1, 2, 7}));
  EXPECT_FALSE(debts.settle(1, 2));
  debts.take(of(0, 1, 5));
  debts.take(of(1, 1, 50));
  EXPECT_THAT(debts.settle_all(1), ElementsAre(Credit{0, 1, 5}, Credit{1, 1, 50}));
}

TEST(Credit, IsBoundedForAllNodesTogether) {
  for (const int nodes : {1, 2, 16, 1000, 4096})
    EXPECT_LE(std::size_t{credit_of_stream(nodes)} * 2 * static_cast<std::size_t>(nodes),
              std::size_t{32} << 20)
        << nodes;
  EXPECT_GE(credit_of_stream(4096), 4096u);
}

// Readings of any size, messages that take any time, and a reader who stops again and again: on
// the way is never more than the credit and one reading, and all comes through.
TEST(Flow, IsBoundedAndComesToItsEnd) {
  constexpr std::size_t kCredit = 100, kReading = 30;
  std::mt19937 random(7);
  for (int game = 0; game < 200; ++game) {
    Allowance allowance(kCredit);
    Debts debts(1, kCredit);
    std::deque<Lines> up;
    std::deque<Credit> down;
    std::size_t unread = 5000, on_the_way = 0;
    for (int step = 0; unread + on_the_way > 0; ++step) {
      ASSERT_LT(step, 100'000) << "it stands still";
      const auto choice = random() % 4;
      if (choice == 0 && unread > 0 && !allowance.spent()) {
        const std::size_t size = std::min(unread, 1 + random() % kReading);
        allowance.spend(size);
        up.push_back(of(0, 1, size));
        unread -= size, on_the_way += size;
      } else if (choice == 1 && !up.empty()) {
        debts.take(up.front());
        up.pop_front();
      } else if (choice == 2 && !down.empty()) {
        allowance.add(down.front().bytes);
        on_the_way -= down.front().bytes;
        down.pop_front();
      } else if (choice == 3) {
        if (const auto credit = debts.settle(0, 1)) down.push_back(*credit);
      }
      ASSERT_LT(on_the_way, kCredit + kReading);
      // The last ones are too few to be settled.
      if (unread == 0 && up.empty() && down.empty() && on_the_way < kCredit / 2) break;
    }
    EXPECT_EQ(unread, 0u);
  }
}

}  // namespace
}  // namespace ddprun::hosts
