#include "tests/bench/announcer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <stdexcept>

namespace ddprun::bench {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

Words shell(const std::string& script) {
  return {"/bin/sh", "-c", script};
}

TEST(AnnouncerTest, WaitsForAWholeLineAndLetsTheProcessStay) {
  const Announcer announcer(shell("printf 127.0.0.1:; echo 4711; exec sleep 60"));
  EXPECT_EQ(announcer.line(), "127.0.0.1:4711");
  EXPECT_EQ(announcer.number(), 4711);
  EXPECT_EQ(::kill(announcer.pid(), 0), 0);
}

TEST(AnnouncerTest, TakesTheLineOfAProcessThatHasEnded) {
  EXPECT_EQ(Announcer(shell("echo 1.25")).number(), 1.25);
}

TEST(AnnouncerTest, WhatIsNoNumberIsTold) {
  const Announcer announcer(shell("echo 'client 3: reset by peer'"));
  EXPECT_THAT([&] { (void)announcer.number(); },
              ThrowsMessage<std::runtime_error>("client 3: reset by peer"));
}

TEST(AnnouncerTest, AnEndWithoutAWordIsAFailure) {
  EXPECT_THAT([] { Announcer announcer(shell("exit 0")); },
              ThrowsMessage<std::runtime_error>(HasSubstr("ended without a word")));
}

TEST(AnnouncerTest, WaitsNoLongerThanItShould) {
  EXPECT_THAT([] { Announcer announcer(shell("exec sleep 60"), 1); },
              ThrowsMessage<std::runtime_error>(HasSubstr("said nothing for 1 s")));
}

}  // namespace
}  // namespace ddprun::bench
