#include "worker_sdk/src/shared_memory/sum_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <future>
#include <stdexcept>
#include <thread>

namespace ddp::detail {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::Each;
using testing::HasSubstr;

constexpr seconds kLong{60};

std::exception_ptr failure(const std::string& text) {
  return std::make_exception_ptr(std::runtime_error(text));
}

SumFailures in_words() {
  return {.ended = [](int rank) { return failure("ended " + std::to_string(rank)); },
          .gave_up = [](int rank) { return failure("gave up " + std::to_string(rank)); },
          .late =
              [](const std::vector<int>& ranks, milliseconds time) {
                return failure("late " + testing::PrintToString(ranks) + " after " +
                               std::to_string(time.count()));
              },
          .differs = failure};
}

// A process that does nothing until it is killed.
class Idler {
 public:
  Idler() : pid_(::fork()) {
    if (pid_ == 0) {
      for (;;) ::pause();
    }
  }
  ~Idler() {
    if (!killed_) kill();
    ::waitpid(pid_, nullptr, 0);
  }
  int pid() const { return pid_; }
  // It is not waited for: a process that has ended is seen even where nobody has asked for it.
  void kill() {
    ::kill(pid_, SIGKILL);
    killed_ = true;
  }

 private:
  pid_t pid_;
  bool killed_ = false;
};

// Ranks 4 and 6, both in this process unless another one stands for rank 6.
class SumQueueTest : public testing::Test {
 protected:
  // Closed when it goes.
  std::shared_ptr<SumQueue> queue(int rank, int pid_of_6 = ::getpid()) {
    auto memory = SharedMapping::open({::getpid(), file_.get()}, memory_.size());
    auto queue = std::make_shared<SumQueue>(
        std::move(memory.value()), SharingRanks{rank, {4, 6}, {::getpid(), pid_of_6}}, in_words());
    return {queue.get(), [queue](SumQueue* own) { own->close(); }};
  }

  // "" or why not.
  static std::future<std::string> sum(SumQueue& queue, std::vector<float>& data,
                                      milliseconds timeout = kLong) {
    auto promise = std::make_shared<std::promise<std::string>>();
    auto said = promise->get_future();
    queue.sum({data.data(), data.size(), Addend::Type::kFloat}, timeout,
              [promise](std::exception_ptr reason) {
                try {
                  if (reason) std::rethrow_exception(reason);
                  promise->set_value("");
                } catch (const std::exception& error) {
                  promise->set_value(error.what());
                }
              });
    return said;
  }

  static std::string text(std::future<std::string> said) {
    return said.wait_for(kLong) == std::future_status::ready ? said.get() : "nothing was said";
  }

 private:
  ddprun::UniqueFd file_;
  SharedMapping memory_ = std::move(SharedMapping::make(SharedSum::bytes_for(2), file_).value());
};

TEST_F(SumQueueTest, HoldsUpNobodyWhoAsks) {
  const auto first = queue(0), second = queue(1);
  std::vector<float> ones(300'000, 1), twos(300'000, 2), more(10, 5), most(10, 6);
  auto a = sum(*first, ones), b = sum(*first, more);  // the other rank has not come
  auto c = sum(*second, twos), d = sum(*second, most);
  EXPECT_EQ(text(std::move(a)) + text(std::move(b)) + text(std::move(c)) + text(std::move(d)), "");
  EXPECT_EQ(ones, std::vector<float>(300'000, 3));
  EXPECT_EQ(twos, ones);
  EXPECT_THAT(more, Each(11));
  EXPECT_THAT(most, Each(11));
}

// As a communication hook does it that goes on with what it has got.
TEST_F(SumQueueTest, MayBeAskedAgainAndWaitedForWhereASumIsDone) {
  const auto first = queue(0), second = queue(1);
  std::vector<float> a(3, 1), b(3, 2), c(3, 1), d(3, 2);
  std::promise<std::string> inner;
  first->sum({a.data(), a.size(), Addend::Type::kFloat}, kLong,
             [&](std::exception_ptr) { inner.set_value(text(sum(*first, c))); });
  auto mine = sum(*second, b), later = sum(*second, d);
  EXPECT_EQ(text(inner.get_future()) + text(std::move(mine)) + text(std::move(later)), "");
  EXPECT_EQ(c, std::vector<float>(3, 3));
}

TEST_F(SumQueueTest, NamesWhoDidNotComeInTime) {
  const auto first = queue(0);
  std::vector<float> data(3, 1);
  EXPECT_EQ(text(sum(*first, data, milliseconds(50))), "late { 6 } after 50");
  EXPECT_EQ(text(sum(*first, data)), "late { 6 } after 50") << "all later ones";
}

TEST_F(SumQueueTest, NoticesTheEndOfAProcess) {
  Idler idler;
  const auto first = queue(0, idler.pid());
  std::vector<float> data(3, 1);
  auto said = sum(*first, data);
  idler.kill();
  EXPECT_EQ(text(std::move(said)), "ended 6");
}

TEST_F(SumQueueTest, NoticesThatOneHasLeft) {
  const auto first = queue(0);
  queue(1).reset();
  std::vector<float> data(3, 1);
  EXPECT_EQ(text(sum(*first, data)), "ended 6");
}

TEST_F(SumQueueTest, SaysInWhatTheRanksDiffer) {
  const auto first = queue(0), second = queue(1);
  std::vector<float> three(3, 1), four(4, 1);
  auto a = sum(*first, three), b = sum(*second, four);
  EXPECT_THAT(text(std::move(a)), HasSubstr("rank 6 has 4 numbers"));
  EXPECT_THAT(text(std::move(b)), HasSubstr("rank 4 has 3 numbers"));
}

TEST_F(SumQueueTest, TellsThoseWhoComeLaterThatItHasGivenUp) {
  const auto first = queue(0), second = queue(1);
  std::vector<float> data(3, 1), more(3, 1);
  EXPECT_EQ(text(sum(*first, data, milliseconds(50))), "late { 6 } after 50");
  EXPECT_EQ(text(sum(*second, more)), "gave up 4");
}

TEST_F(SumQueueTest, ClosesWhenWhatWasAskedForIsDone) {
  auto first = queue(0);
  const auto second = queue(1);
  std::vector<float> a(300'000, 1), b(3, 1), c(300'000, 2), d(3, 2);
  auto one = sum(*first, a), two = sum(*first, b);
  std::thread closing([&] { first.reset(); });
  auto three = sum(*second, c), four = sum(*second, d);
  closing.join();
  EXPECT_EQ(one.wait_for(milliseconds(0)), std::future_status::ready);
  EXPECT_EQ(text(std::move(one)) + text(std::move(two)) + text(std::move(three)), "");
  EXPECT_EQ(text(std::move(four)), "");
  EXPECT_EQ(b, std::vector<float>(3, 3));
}

TEST_F(SumQueueTest, MayGoWhereASumIsDone) {
  auto first = queue(0);
  const auto second = queue(1);
  std::vector<float> a(3, 1), b(3, 2);
  std::promise<std::string> said;
  first->sum({a.data(), a.size(), Addend::Type::kFloat}, kLong, [&](std::exception_ptr) {
    first.reset();
    said.set_value("");
  });
  auto other = sum(*second, b);
  EXPECT_EQ(text(said.get_future()) + text(std::move(other)), "");
}

}  // namespace
}  // namespace ddp::detail
