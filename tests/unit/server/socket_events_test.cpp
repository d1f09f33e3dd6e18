#include "rendezvous/server/socket_events.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <string>

namespace ddprun::server {
namespace {

class SocketEventsTest : public testing::Test {
 protected:
  SocketEventsTest() {
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
    ours_.reset(ends[0]);
    theirs_.reset(ends[1]);
    EXPECT_TRUE(events_.add(ours_.get(), 7));
  }
  bool is_ready() const {
    pollfd entry{events_.descriptor(), POLLIN, 0};
    return ::poll(&entry, 1, 0) == 1;
  }
  void write_there() { EXPECT_EQ(::write(theirs_.get(), "x", 1), 1); }

  SocketEvents events_ = std::move(SocketEvents::open().value());
  UniqueFd ours_, theirs_;
};

TEST_F(SocketEventsTest, TellsWhoIsReadableUntilItWasRead) {
  EXPECT_FALSE(is_ready());
  EXPECT_TRUE(events_.take().empty());
  write_there();
  for (int time = 0; time < 2; ++time) {
    EXPECT_TRUE(is_ready());
    const auto ready = events_.take();
    ASSERT_EQ(ready.size(), 1U);
    EXPECT_EQ(ready[0].key, 7U);
    EXPECT_TRUE(ready[0].readable);
    EXPECT_FALSE(ready[0].writable);
  }
  char byte;
  EXPECT_EQ(::read(ours_.get(), &byte, 1), 1);
  EXPECT_FALSE(is_ready());
  EXPECT_TRUE(events_.take().empty());
}

TEST_F(SocketEventsTest, TellsWhoTakesBytesOnlyWhileThatIsWanted) {
  events_.want_writable(ours_.get(), 7, true);
  ASSERT_EQ(events_.take().size(), 1U);
  EXPECT_TRUE(events_.take()[0].writable);
  EXPECT_FALSE(events_.take()[0].readable);
  events_.want_writable(ours_.get(), 7, false);
  EXPECT_TRUE(events_.take().empty());
}

TEST_F(SocketEventsTest, AnEndIsReadable) {
  theirs_.reset();
  ASSERT_EQ(events_.take().size(), 1U);
  EXPECT_TRUE(events_.take()[0].readable);
}

TEST_F(SocketEventsTest, WhoeverIsRemovedIsForgottenThoughACopyOfItIsOpen) {
  const UniqueFd copy(::dup(ours_.get()));
  events_.remove(ours_.get());
  ours_.reset();
  write_there();
  EXPECT_FALSE(is_ready());
}

TEST_F(SocketEventsTest, WhatCannotBeWatchedIsSaid) {
  EXPECT_FALSE(events_.add(-1, 8));
}

}  // namespace
}  // namespace ddprun::server
