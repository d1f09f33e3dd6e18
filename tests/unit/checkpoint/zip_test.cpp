#include "worker_sdk/src/checkpoint/zip.h"

#include <gmock/gmock.h>

#include "tests/unit/checkpoint/error_of.h"
#include "worker_sdk/src/checkpoint/crc32.h"
#include "worker_sdk/src/checkpoint/little_endian.h"

namespace ddp::detail::test {
namespace {

using testing::HasSubstr;

constexpr std::size_t kDirectoryEntry = 46;

std::string two_entries(std::uint64_t zip64_from = 0xffffffff) {
  MemorySink sink;
  ZipWriter zip(sink, zip64_from);
  zip.add("a/one", "first");
  zip.add("a/two", std::string(100, 'x'));
  zip.finish();
  return sink.bytes();
}

std::string refused(const std::string& bytes) {
  MemorySource source(bytes);
  return error_of([&] { ZipReader reader(source); });
}

std::string unreadable(const std::string& bytes, const std::string& name) {
  MemorySource source(bytes);
  const ZipReader reader(source);  // the others may be read
  return error_of([&] { reader.read(name, 1000); });
}

// With the bytes at `at` of the directory's entry for `name` replaced.
std::string with(std::string bytes, const std::string& name, std::size_t at,
                 const std::string& replacement) {
  const auto place = bytes.rfind(name) - kDirectoryEntry;
  return bytes.replace(place + at, replacement.size(), replacement);
}

std::string u32(std::uint32_t number) {
  return to_little_endian(number);
}

TEST(Zip, WhatIsWrittenIsRead) {
  for (const std::uint64_t limit : {0xffffffffull, 50ull, 1ull}) {
    const std::string bytes = two_entries(limit);
    MemorySource source(bytes);
    const ZipReader reader(source);
    EXPECT_EQ(reader.entries().size(), 2u) << limit;
    EXPECT_EQ(reader.read("a/one", 5), "first");
    EXPECT_EQ(reader.read("a/two", 100), std::string(100, 'x'));
    EXPECT_EQ(reader.find("a/two")->offset % 64, 0u);
    EXPECT_EQ(reader.find("a/three"), nullptr);
  }
}

TEST(Zip, CheckSumIsZlibs) {
  EXPECT_EQ(crc32(0, "123456789", 9), 0xcbf43926u);
  EXPECT_EQ(crc32(crc32(0, "1234", 4), "56789", 5), 0xcbf43926u);
  EXPECT_EQ(crc32(0, nullptr, 0), 0u);
}

TEST(Zip, ReadLimitsAndMissingEntries) {
  const std::string bytes = two_entries();
  MemorySource source(bytes);
  const ZipReader reader(source);
  EXPECT_THAT(error_of([&] { reader.read("a/two", 99); }),
              HasSubstr("'a/two' has 100 bytes, expected at most 99"));
  EXPECT_THAT(error_of([&] { reader.read("b", 99); }), HasSubstr("'b' is missing"));
}

TEST(Zip, DamagedContentsAreNoticed) {
  std::string bytes = two_entries();
  bytes[bytes.find("first")] = 'F';
  MemorySource source(bytes);
  const ZipReader reader(source);
  EXPECT_THAT(error_of([&] { reader.read("a/one", 5); }), HasSubstr("'a/one' is damaged"));
}

// torch.save may be told to leave the check sums out.
TEST(Zip, NoCheckSumIsNotChecked) {
  const std::string bytes = with(two_entries(), "a/one", 16, u32(0));
  MemorySource source(bytes);
  EXPECT_EQ(ZipReader(source).read("a/one", 5), "first");
}

TEST(Zip, OtherFilesAreNamed) {
  EXPECT_THAT(refused(""), HasSubstr("it is empty"));
  EXPECT_THAT(refused("hello\n"), HasSubstr("expected a zip file of torch.save, and it begins with "
                                            "'hello\\x0a'"));
  EXPECT_THAT(refused("\x80\x02\x8a\x0a" + std::string(60, 'l')), HasSubstr("before 1.6"));
  EXPECT_THAT(refused(std::string("\x10\0\0\0\0\0\0\0{", 9) + "\"a\":1}          "),
              HasSubstr("safetensors"));
}

TEST(Zip, EveryCutIsNoticed) {
  const std::string bytes = two_entries();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_NE(refused(bytes.substr(0, size)), "") << size;
  }
  EXPECT_THAT(refused(bytes.substr(0, 100)), HasSubstr("it is cut"));
}

TEST(Zip, RefusesWhatTorchNeverWrites) {
  const std::string good = two_entries();
  EXPECT_THAT(unreadable(with(good, "a/two", 8, "\x01"), "a/two"),
              HasSubstr("'a/two' is encrypted"));
  EXPECT_THAT(unreadable(with(good, "a/two", 10, "\x08"), "a/two"),
              HasSubstr("'a/two' is compressed"));
  EXPECT_THAT(unreadable(with(good, "a/two", 20, u32(99)), "a/two"),
              HasSubstr("two sizes, 99 and 100"));
  EXPECT_THAT(refused(with(good, "a/two", 46, "a/one")), HasSubstr("another name in its header"));
}

TEST(Zip, RefusesTwoEntriesOfOneName) {
  MemorySink sink;
  ZipWriter zip(sink);
  zip.add("a", "1");
  zip.add("a", "2");
  zip.finish();
  EXPECT_THAT(refused(sink.bytes()), HasSubstr("two entries 'a'"));
}

TEST(Zip, RefusesEntriesOutsideTheFile) {
  const std::string good = two_entries();
  const std::string large = u32(0x7fffffff);
  EXPECT_THAT(refused(with(good, "a/two", 20, large + large)), HasSubstr("reaches beyond the end"));
  EXPECT_THAT(refused(with(good, "a/two", 42, large)), HasSubstr("lies outside the file"));
  EXPECT_THAT(refused(with(good, "a/two", 42, u32(1))), HasSubstr("no header where it should be"));
}

TEST(Zip, RefusesOverlaps) {
  // The first one claims the bytes up to the second's.
  const std::string good = two_entries();
  EXPECT_THAT(refused(with(good, "a/one", 20, u32(80) + u32(80))),
              HasSubstr("'a/one' and 'a/two' overlap"));
  // Two entries over the same bytes, of which one file could make any number.
  MemorySink sink;
  ZipWriter zip(sink);
  zip.add("same", "1");
  zip.add("samf", "1");
  zip.finish();
  EXPECT_THAT(refused(with(sink.bytes(), "samf", 42, u32(0))), testing::Not(""));
}

TEST(Zip, RefusesAWrongDirectory) {
  std::string bytes = two_entries();
  const std::size_t end = bytes.size() - 22;
  EXPECT_THAT(refused(std::string(bytes).replace(end + 10, 1, "\x03")), HasSubstr("announces 3"));
  EXPECT_THAT(refused(std::string(bytes).replace(end + 16, 4, u32(0xfffffff0))),
              HasSubstr("it is cut"));
  EXPECT_THAT(refused(std::string(bytes).replace(end + 4, 1, "\x01")),
              HasSubstr("one part of several"));
  EXPECT_THAT(refused(std::string(bytes).replace(end + 12, 4, u32(10))), HasSubstr("damaged"));
}

TEST(Zip, RefusesAWrong64BitDirectory) {
  const std::string bytes = two_entries(1);
  const auto record = bytes.rfind("PK\x06\x06"), locator = bytes.rfind("PK\x06\x07");
  const std::string huge(8, '\xff');
  EXPECT_NE(refused(std::string(bytes).replace(record + 40, 8, huge)), "");
  EXPECT_NE(refused(std::string(bytes).replace(record + 48, 8, huge)), "");
  EXPECT_NE(refused(std::string(bytes).replace(locator + 8, 8, huge)), "");
  EXPECT_THAT(refused(std::string(bytes).replace(record, 1, "x")), HasSubstr("is damaged"));
}

}  // namespace
}  // namespace ddp::detail::test
