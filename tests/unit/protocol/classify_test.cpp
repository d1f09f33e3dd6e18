#include "rendezvous/protocol/classify.h"

#include <gtest/gtest.h>

#include <string>

namespace ddprun::protocol {
namespace {

using namespace std::string_view_literals;

TEST(Classify, KnowsEachProtocolByItsFirstBytes) {
  EXPECT_EQ(classify("\x00\xCE\xF7\x85\x3C"sv), Dialect::kC10d);
  EXPECT_EQ(classify("\x00\xCE\xF7\x85\x3C\x0D"sv), Dialect::kC10d);
  EXPECT_EQ(classify("DDPR"), Dialect::kRoster);
  EXPECT_EQ(classify("\x16\x03\x01"), Dialect::kTls);
  EXPECT_EQ(classify("GET / HTTP/1.1\r\n"), Dialect::kHttp);
  EXPECT_EQ(classify("DELETE /x"), Dialect::kHttp);
}

TEST(Classify, WaitsWhileTheBytesCanStillBecomeAProtocol) {
  EXPECT_EQ(classify(""), Dialect::kUndecided);
  EXPECT_EQ(classify("\x00\xCE\xF7\x85"sv), Dialect::kUndecided);
  EXPECT_EQ(classify("D"), Dialect::kUndecided);
  EXPECT_EQ(classify("OPTIONS"), Dialect::kUndecided);
  EXPECT_EQ(classify("\x16"), Dialect::kUndecided);
}

TEST(Classify, GivesUpAtTheFirstByteThatFitsNothing) {
  EXPECT_EQ(classify("\x63"), Dialect::kOther);
  EXPECT_EQ(classify("\x00\xCE\xF7\x85\x3D"sv), Dialect::kOther);
  EXPECT_EQ(classify("GETX"), Dialect::kOther);
  EXPECT_EQ(classify("get / HTTP/1.1"), Dialect::kOther);
  // What a PyTorch 1.13 client begins with: SET with an 8-byte length.
  EXPECT_EQ(classify("\x00\x06\x00\x00\x00"sv), Dialect::kOther);
}

TEST(Classify, NeverNeedsMoreThanEightBytes) {
  for (int first = 0; first < 256; ++first) {
    for (const std::string_view start : {"\xCE\xF7\x85"sv, "DPR"sv, "\x03"sv, "ET"sv, "PTIONS"sv}) {
      std::string bytes(1, static_cast<char>(first));
      bytes += start;
      bytes.resize(8, 'x');
      EXPECT_NE(classify(bytes), Dialect::kUndecided) << first;
    }
  }
}

}  // namespace
}  // namespace ddprun::protocol
