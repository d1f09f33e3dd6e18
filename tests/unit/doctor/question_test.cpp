// Questions whose answer may never come.
#include "launcher/doctor/question.h"

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "launcher/doctor/look_network.h"

namespace ddprun::doctor {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Clock = Question::Clock;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

Clock::time_point soon() {
  return Clock::now() + seconds(10);
}

TEST(QuestionTest, TheAnswerIsWhatTheChildFindsOut) {
  Question question([] { return std::string(100'000, 'x') + "end"; });
  EXPECT_EQ(question.answer(soon()), std::string(100'000, 'x') + "end");
  EXPECT_EQ(Question([] { return std::string(); }).answer(soon()), "");
}

TEST(QuestionTest, OneThatHangsEndsAtTheDeadlineAndNoChildIsLeft) {
  const auto begin = Clock::now();
  {
    Question question([] {
      for (;;) ::pause();
      return std::string();
    });
    EXPECT_EQ(question.answer(begin + milliseconds(50)), std::nullopt);
  }
  EXPECT_LT(Clock::now() - begin, seconds(5));
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

TEST(QuestionTest, AProgramIsAskedByItsOutput) {
  Question question = Question::program({"/bin/sh", "-c", "echo a; echo b >&2; echo c"});
  EXPECT_EQ(question.answer(soon()), "a\nc\n");
  EXPECT_EQ(Question::program({"/nonexistent"}).answer(soon()), "");
}

TEST(QuestionTest, AQuestionThatMovesIsStillAnswered) {
  Question first([] { return std::string("here"); });
  Question second(std::move(first));
  EXPECT_EQ(second.answer(soon()), "here");
  EXPECT_EQ(first.answer(soon()), std::nullopt);
}

HostName resolve(const std::string& name, milliseconds patience) {
  Question question = ask_host(name);
  return read_host(name, question, Clock::now() + patience);
}

TEST(HostTest, NumbersAreTheirOwnAddresses) {
  const HostName host = resolve("127.0.0.1", seconds(10));
  EXPECT_THAT(host.addresses, ElementsAre("127.0.0.1"));
  EXPECT_FALSE(host.timed_out);
  EXPECT_EQ(host.failure, "");
}

TEST(HostTest, ANameThatIsNoneHasAReason) {
  const HostName host = resolve("not a name", seconds(10));
  EXPECT_THAT(host.addresses, IsEmpty());
  EXPECT_TRUE(host.timed_out || !host.failure.empty());
}

TEST(HostTest, PatienceEnds) {
  EXPECT_TRUE(resolve("127.0.0.1", milliseconds(0)).timed_out);
}

}  // namespace
}  // namespace ddprun::doctor
