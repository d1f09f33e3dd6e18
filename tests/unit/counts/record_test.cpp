// What a count of instructions says beside the recorded one.
#include "tests/counts/record.h"

#include <gmock/gmock.h>

#include "rendezvous/base/read_file.h"
#include "tests/counts/callgrind.h"

namespace ddprun::counts {
namespace {

using ::testing::HasSubstr;
using Kind = Verdict::Kind;

const Record kRecord{.built_with = {{"compiler", "GNU 12.2.0"}, {"libc", "2.36"}},
                     .instructions = {{"output", 1'000'000}, {"store", 500}}};

TEST(Compare, WithinTheToleranceIsTheSame) {
  EXPECT_EQ(compare(kRecord, "output", 1'000'000).kind, Kind::same);
  EXPECT_EQ(compare(kRecord, "output", 1'049'000).kind, Kind::same);
  EXPECT_EQ(compare(kRecord, "output", 951'000).kind, Kind::same);
}

TEST(Compare, MoreIsWorse) {
  const Verdict verdict = compare(kRecord, "output", 1'051'000);
  EXPECT_EQ(verdict.kind, Kind::worse);
  EXPECT_EQ(verdict.text,
            "output: 1,051,000 instructions, +5.1 % beside the recorded 1,000,000; find out why "
            "with callgrind_annotate. If it must be so, ./dev counts --record renews the record");
}

TEST(Compare, FewerAreBetterAndAreToBeRecorded) {
  const Verdict verdict = compare(kRecord, "store", 474);
  EXPECT_EQ(verdict.kind, Kind::better);
  EXPECT_THAT(verdict.text, HasSubstr("-5.2 % beside the recorded 500: better; ./dev counts"));
}

TEST(Compare, WhatWasNeverRecordedIsSaid) {
  EXPECT_EQ(compare(kRecord, "new", 1).kind, Kind::unrecorded);
  EXPECT_EQ(compare({.instructions = {{"new", 0}}}, "new", 1).kind, Kind::unrecorded);
}

TEST(BuiltWithOther, MeansNothing) {
  EXPECT_EQ(not_comparable(kRecord.built_with, kRecord.built_with), std::nullopt);
  EXPECT_EQ(not_comparable(kRecord.built_with, {{"compiler", "GNU 13.1.0"}, {"libc", "2.36"}}),
            "recorded with compiler GNU 12.2.0, this is GNU 13.1.0");
  EXPECT_EQ(not_comparable({}, {{"arch", "x86_64"}}), "recorded with arch nothing, this is x86_64");
}

TEST(File, IsReadAsItWasWritten) {
  const std::string text = to_json(kRecord);
  const auto record = parse_record(text);
  ASSERT_TRUE(record.has_value());
  EXPECT_EQ(record->built_with, kRecord.built_with);
  EXPECT_EQ(record->instructions, kRecord.instructions);
  EXPECT_THAT(text, HasSubstr("\n    \"output\": 1000000,\n    \"store\": 500\n"));
}

TEST(File, ThatIsNoneSaysWhy) {
  EXPECT_FALSE(parse_record("{").has_value());
  EXPECT_FALSE(parse_record(R"({"built_with": {}})").has_value());
  EXPECT_FALSE(parse_record(R"({"built_with": {}, "instructions": {"a": -1}})").has_value());
}

TEST(Callgrind, OfAllProcessesIsSummed) {
  EXPECT_EQ(collected("ddprun 0.1.0\n==2== \n==2== Collected : 299980\n==1== Collected : 20\n"),
            300'000u);
  EXPECT_EQ(collected("Collected : 7\n"), 0u);
}

}  // namespace
}  // namespace ddprun::counts
