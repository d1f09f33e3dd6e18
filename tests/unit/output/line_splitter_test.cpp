#include "launcher/output/line_splitter.h"

#include <gmock/gmock.h>

#include <vector>

namespace ddprun::output {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class LineSplitterTest : public ::testing::Test {
 protected:
  void feed(std::string_view bytes) {
    splitter_.feed(bytes, [this](std::string_view lines) { blocks_.emplace_back(lines); });
  }
  void finish() {
    splitter_.finish([this](std::string_view lines) { blocks_.emplace_back(lines); });
  }

  LineSplitter splitter_{16};
  std::vector<std::string> blocks_;
};

TEST_F(LineSplitterTest, PassesWholeLinesOnInOneBlock) {
  feed("a\nb\n\nc");
  EXPECT_THAT(blocks_, ElementsAre("a\nb\n\n"));
}

TEST_F(LineSplitterTest, JoinsALineFromSingleBytes) {
  for (char byte : std::string_view("ab\nc")) feed({&byte, 1});
  EXPECT_THAT(blocks_, ElementsAre("ab\n"));
  feed("d\ne\n");
  EXPECT_THAT(blocks_, ElementsAre("ab\n", "cd\n", "e\n"));
}

TEST_F(LineSplitterTest, CompletesTheLastLine) {
  feed("end");
  finish();
  finish();
  EXPECT_THAT(blocks_, ElementsAre("end\n"));
}

TEST_F(LineSplitterTest, FinishAfterANewlineAddsNothing) {
  feed("end\n");
  finish();
  EXPECT_THAT(blocks_, ElementsAre("end\n"));
}

TEST_F(LineSplitterTest, CarriageReturnsAndBinaryBytesPassUnchanged) {
  const std::string bytes("10%\r20%\r\xff\xfe\0\n", 12);
  feed(bytes);
  EXPECT_THAT(blocks_, ElementsAre(bytes));
}

TEST_F(LineSplitterTest, ALineBeyondTheLimitComesInPieces) {
  feed("0123456789");
  EXPECT_THAT(blocks_, IsEmpty());
  feed("0123456789");
  feed("ab\nc\n");
  EXPECT_THAT(blocks_, ElementsAre("01234567890123456789\n", "ab\nc\n"));
}

TEST_F(LineSplitterTest, AWholeLineIsNotCutHoweverLong) {
  feed("0123456789012345678901234567890123456789\n");
  EXPECT_THAT(blocks_, ElementsAre("0123456789012345678901234567890123456789\n"));
}

}  // namespace
}  // namespace ddprun::output
