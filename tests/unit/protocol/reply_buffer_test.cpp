#include "rendezvous/protocol/reply_buffer.h"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <string>

namespace ddprun::protocol {
namespace {

std::string front(const ReplyBuffer& buffer, std::size_t parts) {
  std::vector<iovec> memory(parts);
  const std::size_t used = buffer.gather(memory);
  std::string bytes;
  for (std::size_t i = 0; i < used; ++i) {
    bytes.append(static_cast<const char*>(memory[i].iov_base), memory[i].iov_len);
  }
  return bytes;
}

Value value_of(std::size_t size, char letter) {
  return std::make_shared<const std::string>(size, letter);
}

TEST(ReplyBuffer, WritesTheProtocolsParts) {
  ReplyBuffer buffer;
  buffer.add_code(1);
  buffer.add_number(-2);
  buffer.add_word(0x01020304);
  buffer.add_text("ab");
  buffer.add_value(nullptr);
  const std::string expected(
      "\x01\xFE\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x04\x03\x02\x01"
      "\x02\0\0\0\0\0\0\0ab\0\0\0\0\0\0\0\0",
      31);
  EXPECT_EQ(front(buffer, 4), expected);
  EXPECT_EQ(buffer.unsent(), expected.size());
}

TEST(ReplyBuffer, SharesLargeValuesAndCopiesSmallOnes) {
  ReplyBuffer buffer;
  const Value large = value_of(8 << 20, 'x');
  const Value small = value_of(10, 'y');
  buffer.add_value(large);
  buffer.add_value(small);
  EXPECT_EQ(large.use_count(), 2);
  EXPECT_EQ(small.use_count(), 1);
  buffer.consume(8 + large->size());
  EXPECT_EQ(large.use_count(), 1) << "a value is let go as soon as it is sent";
  EXPECT_EQ(front(buffer, 2).substr(8), *small);
}

TEST(ReplyBuffer, PartialWritesInAnySizesDeliverTheSameBytes) {
  std::mt19937 random(5);
  for (int round = 0; round < 300; ++round) {
    ReplyBuffer buffer;
    std::string expected;
    std::string got;
    for (int i = 0; i < 40; ++i) {
      const Value value = value_of(random() % 3 == 0 ? 1'000 + random() % 90'000 : random() % 50,
                                   static_cast<char>('a' + i % 26));
      ReplyBuffer alone;
      alone.add_value(value);
      expected += front(alone, 4);
      buffer.add_value(value);
      buffer.end_reply();
      while (random() % 3 != 0 && !buffer.empty()) {
        const std::string next = front(buffer, 1 + random() % 4);
        const std::size_t sent = 1 + random() % next.size();
        got += next.substr(0, sent);
        buffer.consume(sent);
      }
    }
    while (!buffer.empty()) {
      const std::string next = front(buffer, 3);
      got += next;
      buffer.consume(next.size());
    }
    EXPECT_EQ(got, expected);
  }
}

TEST(ReplyBuffer, CountsWhatWaitsBehindTheReplyBeingSent) {
  ReplyBuffer buffer;
  buffer.add_value(value_of(100'000, 'a'));
  buffer.end_reply();
  EXPECT_EQ(buffer.unsent_behind_first(), 0u);
  buffer.add_number(1);
  buffer.end_reply();
  buffer.add_number(2);
  buffer.end_reply();
  EXPECT_EQ(buffer.unsent_behind_first(), 16u);
  buffer.consume(50'000);
  EXPECT_EQ(buffer.unsent_behind_first(), 16u);
  buffer.consume(50'008);
  EXPECT_EQ(buffer.unsent_behind_first(), 8u);
  buffer.end_reply();  // nothing was written: no reply
  EXPECT_EQ(buffer.unsent_behind_first(), 8u);
}

TEST(ReplyBuffer, AClientThatNeverCatchesUpGetsAllOfItInOrder) {
  // The buffer is never empty, so what was sent must be cut off its front again and again.
  ReplyBuffer buffer;
  const auto reply = [&](int i) {
    buffer.add_text(std::string(1'000, static_cast<char>('a' + i % 26)));
    buffer.add_value(value_of(2'000, static_cast<char>('A' + i % 26)));
    buffer.end_reply();
  };
  reply(0);
  for (int i = 0; i < 5'000; ++i) {
    reply(i + 1);
    const std::string bytes = front(buffer, 3).substr(0, 3'016);
    ASSERT_EQ(bytes.substr(8, 1'000), std::string(1'000, static_cast<char>('a' + i % 26))) << i;
    ASSERT_EQ(bytes.substr(1'016), std::string(2'000, static_cast<char>('A' + i % 26))) << i;
    buffer.consume(3'016);
    ASSERT_EQ(buffer.unsent(), 3'016u);
    ASSERT_EQ(buffer.unsent_behind_first(), 0u);
  }
}

}  // namespace
}  // namespace ddprun::protocol
