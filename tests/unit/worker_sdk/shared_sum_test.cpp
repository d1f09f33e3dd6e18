#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <numeric>
#include <optional>
#include <random>
#include <thread>

#include "worker_sdk/src/shared_memory/faster_copy.h"
#include "worker_sdk/src/shared_memory/mapping.h"
#include "worker_sdk/src/shared_memory/streaming_copy.h"
#include "worker_sdk/src/shared_memory/sum.h"

namespace ddp::detail {
namespace {

using State = SharedSum::State;
using testing::ElementsAre;
using testing::HasSubstr;

SharedMapping memory_for(int ranks) {
  ddprun::UniqueFd file;
  return std::move(SharedMapping::make(SharedSum::bytes_for(ranks), file).value());
}

std::vector<SharedSum> ranks_on(const SharedMapping& memory, int ranks) {
  std::vector<SharedSum> all;
  for (int rank = 0; rank < ranks; ++rank) all.emplace_back(memory.data(), rank, ranks);
  return all;
}

template <class T>
Addend addend_of(std::vector<T>& data) {
  return {data.data(), data.size(),
          std::is_same_v<T, float> ? Addend::Type::kFloat : Addend::Type::kDouble};
}

// Each in turn until all are done, as one processor would run them.
void finish(std::vector<SharedSum>& ranks) {
  for (bool done = false; !done;) {
    done = true;
    for (SharedSum& rank : ranks) {
      const State state = rank.advance();
      ASSERT_NE(state, State::kDiffers);
      done = done && state == State::kDone;
    }
  }
}

template <class T>
std::vector<std::vector<T>> random_data(int ranks, std::size_t count) {
  std::mt19937 random(7);
  std::normal_distribution<T> any;
  std::vector<std::vector<T>> data(static_cast<std::size_t>(ranks), std::vector<T>(count));
  for (auto& each : data) {
    for (T& value : each) value = any(random);
  }
  return data;
}

// In the order of the ranks, which is what sum.h promises.
template <class T>
std::vector<T> plain_sum(const std::vector<std::vector<T>>& data) {
  std::vector<T> sum = data[0];
  for (std::size_t rank = 1; rank < data.size(); ++rank) {
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += data[rank][i];
  }
  return sum;
}

template <class T>
void expect_sum(int ranks, std::size_t count) {
  const SharedMapping memory = memory_for(ranks);
  auto all = ranks_on(memory, ranks);
  auto data = random_data<T>(ranks, count);
  const auto expected = plain_sum(data);
  for (std::size_t rank = 0; rank < all.size(); ++rank) all[rank].begin(addend_of(data[rank]));
  finish(all);
  for (const auto& each : data) EXPECT_EQ(each, expected) << ranks << " ranks, " << count;
}

TEST(SharedSum, IsTheSumInTheOrderOfTheRanksForEveryLength) {
  for (const int ranks : {2, 3, 5}) {
    for (const std::size_t count : {0u, 1u, 2u, 7u, 4097u, 262'144u, 262'145u, 900'001u}) {
      expect_sum<float>(ranks, count);
      expect_sum<double>(ranks, count);
    }
  }
}

TEST(SharedSum, WaitsForTheLastRank) {
  const SharedMapping memory = memory_for(3);
  auto all = ranks_on(memory, 3);
  auto data = random_data<float>(3, 10);
  all[0].begin(addend_of(data[0]));
  all[2].begin(addend_of(data[2]));
  EXPECT_EQ(all[0].advance(), State::kWaiting);
  EXPECT_THAT(all[0].late(), ElementsAre(1));
  all[1].begin(addend_of(data[1]));
  EXPECT_EQ(all[0].advance(), State::kWaiting) << "the others have their parts to add up";
  finish(all);
  EXPECT_THAT(all[0].late(), ElementsAre());
}

TEST(SharedSum, NamesTheRankThatSumsUpSomethingElse) {
  const SharedMapping memory = memory_for(2);
  auto all = ranks_on(memory, 2);
  std::vector<float> five(5), four(4);
  all[0].begin(addend_of(five));
  all[1].begin(addend_of(four));
  EXPECT_EQ(all[0].advance(), State::kDiffers);
  EXPECT_EQ(all[1].advance(), State::kDiffers);
  EXPECT_EQ(all[0].difference({3, 8}),
            "rank 8 has 4 numbers (float) and rank 3 has 5 numbers (float)");
  EXPECT_EQ(all[0].advance(), State::kDiffers) << "and stays so";
}

TEST(SharedSum, TellsTypesOfOneLengthApart) {
  const SharedMapping memory = memory_for(2);
  auto all = ranks_on(memory, 2);
  std::vector<float> floats(5);
  std::vector<double> doubles(5);
  all[0].begin(addend_of(floats));
  all[1].begin(addend_of(doubles));
  EXPECT_EQ(all[1].advance(), State::kDiffers);
  EXPECT_THAT(all[1].difference({0, 1}), HasSubstr("rank 1 has 5 numbers (double)"));
}

TEST(SharedSum, KnowsWhoHasLeft) {
  const SharedMapping memory = memory_for(2);
  auto all = ranks_on(memory, 2);
  EXPECT_EQ(all[0].presence_of(1), SharedSum::Presence::kHere);
  all[1].say(SharedSum::Presence::kLeft);
  EXPECT_EQ(all[0].presence_of(1), SharedSum::Presence::kLeft);
  EXPECT_EQ(all[0].presence_of(0), SharedSum::Presence::kHere);
}

// Longer than the test's own limit: whoever is not woken up hangs.
constexpr std::chrono::hours kNever{1};

// Threads stand for processes: nothing but the memory is shared between them.
TEST(SharedSum, IsRightWhenAllRunAtOnceForManySums) {
  constexpr int kRanks = 3, kSums = 300;
  constexpr std::size_t kMost = 600'000;  // three pieces
  const SharedMapping memory = memory_for(kRanks);
  std::vector<std::thread> threads;
  std::vector<int> wrong(kRanks);
  for (int rank = 0; rank < kRanks; ++rank) {
    threads.emplace_back([&, rank] {
      SharedSum own(memory.data(), rank, kRanks);
      for (int i = 0; i < kSums; ++i) {
        const std::size_t count = i % 30 == 0 ? kMost : static_cast<std::size_t>(i) % 97 + 1;
        std::vector<float> data(count, static_cast<float>(i + rank));
        own.begin(addend_of(data));
        while (own.advance() == State::kWaiting) own.sleep(kNever);
        if (data != std::vector<float>(data.size(), static_cast<float>(3 * i + 3))) ++wrong[rank];
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(wrong, ElementsAre(0, 0, 0));
}

TEST(StreamingCopy, CopiesJustWhatItIsToldTo) {
  constexpr std::size_t kMost = 400;
  std::string from(kMost, ' ');
  std::iota(from.begin(), from.end(), '\0');
  for (const std::size_t bytes : {0u, 1u, 15u, 63u, 64u, 65u, 127u, 128u, 300u}) {
    for (std::size_t offset = 0; offset < 80; ++offset) {
      alignas(64) std::array<char, kMost> to{};
      std::string expected(to.size(), '\0');
      expected.replace(offset, bytes, from, 3, bytes);
      streaming_copy(to.data() + offset, from.data() + 3, bytes);
      ASSERT_EQ(std::string(to.begin(), to.end()), expected) << bytes << " bytes to " << offset;
    }
  }
}

// Of so many copies, how many streamed, if a byte costs so many nanoseconds.
int streamed(FasterCopy& faster, int copies, int cached, int streaming) {
  int count = 0;
  for (int i = 0; i < copies; ++i) {
    const bool streams = faster.next() == FasterCopy::Way::kStreaming;
    faster.took(100'000, std::chrono::nanoseconds{100'000} * (streams ? streaming : cached));
    count += streams ? 1 : 0;
  }
  return count;
}

TEST(FasterCopy, TakesTheFasterWayAndNoticesWhenItIsNoLonger) {
  FasterCopy faster;
  EXPECT_EQ(streamed(faster, 640, 1, 3), 50) << "tries it now and then";
  EXPECT_GT(streamed(faster, 640, 30, 3), 480);
  streamed(faster, 640, 1, 3);
  EXPECT_EQ(streamed(faster, 640, 1, 3), 50) << "back again";
}

TEST(FasterCopy, IsNotMisledByOneInterruption) {
  FasterCopy faster;
  streamed(faster, 130, 1, 3);
  faster.took(100'000, std::chrono::seconds{1});
  EXPECT_EQ(streamed(faster, 639, 1, 3), 50);
}

TEST(SharedMapping, IsTheSameMemoryWhereAnotherOpensIt) {
  ddprun::UniqueFd file;
  const auto made = SharedMapping::make(4096, file);
  ASSERT_TRUE(made);
  const auto opened = SharedMapping::open({::getpid(), file.get()}, 4096);
  ASSERT_TRUE(opened) << opened.error().text;
  static_cast<char*>(made->data())[7] = 'x';
  EXPECT_EQ(static_cast<char*>(opened->data())[7], 'x');
}

TEST(SharedMapping, RefusesAFileOfAnotherSize) {
  ddprun::UniqueFd file;
  ASSERT_TRUE(SharedMapping::make(4096, file));
  const auto opened = SharedMapping::open({::getpid(), file.get()}, 8192);
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().text, HasSubstr("expected 8192 bytes, found 4096"));
}

TEST(SharedMapping, SaysWhyItCannotBeOpened) {
  const auto opened = SharedMapping::open({::getpid(), 999'999}, 4096);
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().text, HasSubstr("/fd/999999: No such file or directory"));
}

TEST(SharingPlace, IsOneForThisProcess) {
  EXPECT_FALSE(sharing_place().empty());
  EXPECT_EQ(sharing_place(), sharing_place());
}

}  // namespace
}  // namespace ddp::detail
