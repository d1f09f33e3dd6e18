// The roster protocol's opening and frames, whole, in pieces and broken.
#include "rendezvous/protocol/roster_frames.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

#include "rendezvous/protocol/classify.h"
#include "rendezvous/protocol/little_endian.h"

namespace ddprun::protocol {
namespace {

std::string opening(std::uint32_t number = 1) {
  std::string bytes;
  encode_opening(bytes, number);
  return bytes;
}

std::string frame(std::string_view json) {
  std::string bytes;
  encode_frame(bytes, json);
  return bytes;
}

std::string length(std::uint32_t value) {
  std::string bytes;
  store(bytes, value);
  return bytes;
}

std::vector<std::string> frames_in(FrameParser& parser, std::string_view bytes) {
  std::vector<std::string> frames;
  parser.feed(bytes);
  while (const auto json = parser.next()) frames.emplace_back(*json);
  return frames;
}

using Texts = std::vector<std::string>;

TEST(RosterFrames, TheOpeningIsTheOneThatThePortKnows) {
  EXPECT_EQ(opening(1), std::string("DDPR\x01\0\0\0", 8));
  EXPECT_EQ(classify(opening()), Dialect::kRoster);
}

TEST(RosterFrames, WholeFramesComeOutWhole) {
  FrameParser parser;
  EXPECT_EQ(frames_in(parser, opening(7) + frame("{}") + frame("[1]")), (Texts{"{}", "[1]"}));
  EXPECT_EQ(parser.peer_number(), 7u);
  EXPECT_FALSE(parser.failed());
  EXPECT_EQ(parser.pending_bytes(), 0u);
}

TEST(RosterFrames, OneByteAtATimeGivesTheSame) {
  FrameParser parser;
  Texts frames;
  for (const char byte : opening() + frame("{\"a\":1}") + frame("{}"))
    for (std::string& each : frames_in(parser, {&byte, 1})) frames.push_back(std::move(each));
  EXPECT_EQ(frames, (Texts{"{\"a\":1}", "{}"}));
  EXPECT_EQ(parser.pending_bytes(), 0u);
}

TEST(RosterFrames, AFrameInTwoPiecesBetweenOthers) {
  const std::string bytes = opening() + frame("first") + frame("second") + frame("third");
  for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
    FrameParser parser;
    Texts frames = frames_in(parser, std::string_view(bytes).substr(0, cut));
    for (std::string& each : frames_in(parser, std::string_view(bytes).substr(cut)))
      frames.push_back(std::move(each));
    EXPECT_EQ(frames, (Texts{"first", "second", "third"})) << "cut at " << cut;
  }
}

TEST(RosterFrames, AnotherProtocolIsRefusedAtItsFirstByte) {
  FrameParser parser;
  EXPECT_TRUE(frames_in(parser, "DX").empty());
  EXPECT_TRUE(parser.failed());
  EXPECT_NE(parser.error().find("does not begin with DDPR"), std::string::npos);
  EXPECT_FALSE(parser.peer_number());
  EXPECT_TRUE(frames_in(parser, opening() + frame("{}")).empty()) << "once failed, always failed";
}

TEST(RosterFrames, LengthsOfNothingAndOfGigabytesAreRefusedWhenRead) {
  for (const std::uint32_t bad : {0u, (1u << 20) + 1, 0x7fffffffu, 0xffffffffu}) {
    FrameParser parser;
    EXPECT_TRUE(frames_in(parser, opening() + length(bad)).empty());
    EXPECT_TRUE(parser.failed());
    EXPECT_NE(parser.error().find(std::to_string(bad)), std::string::npos) << parser.error();
  }
}

TEST(RosterFrames, ALengthAloneTakesNoMemory) {
  FrameParser parser;
  EXPECT_TRUE(frames_in(parser, opening() + length(1 << 20)).empty());
  EXPECT_FALSE(parser.failed());
  EXPECT_EQ(parser.pending_bytes(), 4u);
}

TEST(RosterFrames, TheLargestFrameComesThrough) {
  const std::string large(kMaxFrameBytes, ' ');
  FrameParser parser;
  EXPECT_EQ(frames_in(parser, opening() + frame(large)), Texts{large});
  EXPECT_THROW(frame(large + " "), std::length_error);
}

}  // namespace
}  // namespace ddprun::protocol
