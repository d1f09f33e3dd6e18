#include "launcher/output/log_file.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rendezvous/base/read_file.h"
#include "tests/unit/output/folder.h"

namespace ddprun::output {
namespace {

using ::testing::HasSubstr;

class LogFileTest : public FolderTest {
 protected:
  LogFile make() { return std::move(LogFile::create(path_).value()); }
  std::string path_ = folder_ + "/stdout.log";
};

TEST_F(LogFileTest, HoldsTheExactBytesAndIsPrivate) {
  LogFile file = make();
  const std::string bytes("a\0\xff\r\nb", 6);
  EXPECT_EQ(file.write(bytes), 0);
  EXPECT_EQ(file.size(), 6U);
  EXPECT_EQ(*read_file(path_), bytes);
  struct stat info {};
  ASSERT_EQ(::stat(path_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600U);
}

TEST_F(LogFileTest, AnOldFileOfThatNameLosesItsContent) {
  make().write("old");
  make().write("n");
  EXPECT_EQ(*read_file(path_), "n");
}

TEST_F(LogFileTest, ItsEndIsReadWhoeverWroteIt) {
  const LogFile file = make();
  ASSERT_EQ(::write(file.fd(), "0123456789", 10), 10);
  EXPECT_EQ(file.end(4), "6789");
  EXPECT_EQ(file.end(100), "0123456789");
}

TEST_F(LogFileTest, IsReadFromAnyPlace) {
  LogFile file = make();
  file.write("0123456789");
  char buffer[4];
  EXPECT_EQ(file.read_at(8, buffer), 2U);
  EXPECT_EQ(std::string(buffer, 2), "89");
  EXPECT_EQ(file.read_at(20, buffer), 0U);
}

TEST_F(LogFileTest, EmptyingItFreesItsRoom) {
  LogFile file = make();
  file.write("a long text");
  ASSERT_EQ(::truncate(path_.c_str(), 0), 0);
  file.write("new");
  EXPECT_EQ(*read_file(path_), "new");
}

TEST_F(LogFileTest, KnowsThatItWasRemovedAndKeepsItsEnd) {
  LogFile file = make();
  EXPECT_FALSE(file.removed());
  file.write("text");
  ::unlink(path_.c_str());
  EXPECT_TRUE(file.removed());
  EXPECT_EQ(file.end(10), "text");
}

TEST_F(LogFileTest, AFullDiskAndAMissingFolderAreErrors) {
  EXPECT_EQ(LogFile::create("/dev/full").value().write("x"), ENOSPC);
  const auto missing = LogFile::create(folder_ + "/no/stdout.log");
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().text, HasSubstr(folder_ + "/no/stdout.log"));
}

TEST_F(LogFileTest, ALinkThatSomebodyPutThereIsNotFollowed) {
  ASSERT_EQ(::symlink("/dev/null", path_.c_str()), 0);
  EXPECT_FALSE(LogFile::create(path_));
}

}  // namespace
}  // namespace ddprun::output
