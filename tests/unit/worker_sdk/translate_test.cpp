#include "worker_sdk/src/translate.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace ddp::detail {
namespace {

std::vector<int> waited_for;  // of the last translation

template <class Exception>
std::string translation(const Exception& thrown, Explain explain = as_it_is) {
  try {
    translated(
        2, "reading", [&]() { throw thrown; }, explain);
  } catch (const Error& error) {
    EXPECT_EQ(error.rank(), 2);
    waited_for = error.waited_for();
    return error.what();
  }
  return "no ddp::Error";
}

TEST(Translate, SaysTheRankAndWhatFailed) {
  EXPECT_EQ(translation(std::runtime_error("no such key")), "[rank 2] reading failed: no such key");
  EXPECT_EQ(translation(Error(2, "as it is")), "[rank 2] as it is");
}

TEST(Translate, LeavesOutTheStackOfLibTorch) {
  try {
    TORCH_CHECK(false, "wrong shape");
  } catch (const c10::Error& error) {
    EXPECT_EQ(translation(error), "[rank 2] reading failed: wrong shape");
  }
}

TEST(Translate, ExplainsOnlyIfAsked) {
  const auto explain = [](const std::string& said) {
    return Reason{said + ", which means nothing", {1}};
  };
  const std::runtime_error late("Timed out after 2 s");
  EXPECT_EQ(translation(late), "[rank 2] reading failed: Timed out after 2 s");
  EXPECT_EQ(waited_for, std::vector<int>{});
  EXPECT_EQ(translation(late, explain),
            "[rank 2] reading failed: Timed out after 2 s, which means nothing");
  EXPECT_EQ(waited_for, std::vector{1});
}

}  // namespace
}  // namespace ddp::detail
