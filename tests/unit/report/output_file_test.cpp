#include "launcher/report/output_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "rendezvous/base/read_file.h"
#include "rendezvous/base/unique_fd.h"
#include "tests/support/temporary_folder.h"

namespace ddprun::report {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class OutputFileTest : public ::testing::Test {
 protected:
  std::string operator()(const char* name) const { return folder_ / name; }
  std::ptrdiff_t files() const { return std::distance(fs::directory_iterator(folder_.path()), {}); }
  const test::TemporaryFolder folder_;
};

TEST_F(OutputFileTest, TheOldFileIsReplacedByAWholeNewOne) {
  std::ofstream((*this)("r")) << "a longer old text";
  const UniqueFd old(::open((*this)("r").c_str(), O_RDONLY));
  ASSERT_TRUE(check_replaceable("--report", (*this)("r")));
  ASSERT_TRUE(replace_file("--report", (*this)("r"), "new"));
  EXPECT_EQ(read_file((*this)("r")), "new");
  char byte = 0;
  EXPECT_EQ(::read(old.get(), &byte, 1), 1) << "a reader keeps the file it has opened";
  EXPECT_EQ(files(), 1) << "nothing stays beside it";
  struct stat info {};
  ::stat((*this)("r").c_str(), &info);
  const mode_t mask = ::umask(0);
  ::umask(mask);
  EXPECT_EQ(info.st_mode & 0777, 0666 & ~mask);
}

TEST_F(OutputFileTest, ALinkStaysALink) {
  std::ofstream((*this)("target")) << "old";
  fs::create_symlink("target", (*this)("link"));
  ASSERT_TRUE(replace_file("--report", (*this)("link"), "new"));
  EXPECT_TRUE(fs::is_symlink((*this)("link")));
  EXPECT_EQ(read_file((*this)("target")), "new");
}

TEST_F(OutputFileTest, ADeviceIsNotReplaced) {
  ASSERT_TRUE(check_replaceable("--report", "/dev/null"));
  ASSERT_TRUE(replace_file("--report", "/dev/null", "text"));
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST_F(OutputFileTest, AFileBehindADescriptorIsAppendedTo) {
  std::ofstream((*this)("log")) << "before\n";
  const UniqueFd log(::open((*this)("log").c_str(), O_WRONLY | O_APPEND));
  const std::string name = "/dev/fd/" + std::to_string(log.get());
  ASSERT_TRUE(replace_file("--report", name, "report\n"));
  EXPECT_EQ(read_file((*this)("log")), "before\nreport\n");
}

TEST_F(OutputFileTest, APipeIsWrittenToWhenSomebodyReadsIt) {
  ASSERT_EQ(::mkfifo((*this)("pipe").c_str(), 0600), 0);
  EXPECT_TRUE(check_replaceable("--report", (*this)("pipe")));
  const auto nobody = replace_file("--report", (*this)("pipe"), "text");
  ASSERT_FALSE(nobody);
  EXPECT_THAT(nobody.error().text, HasSubstr("nobody reads this pipe"));
  const UniqueFd reader(::open((*this)("pipe").c_str(), O_RDONLY | O_NONBLOCK));
  ASSERT_TRUE(replace_file("--report", (*this)("pipe"), "text"));
  char text[8];
  EXPECT_EQ(::read(reader.get(), text, sizeof text), 4);
}

TEST_F(OutputFileTest, WhatCannotBeWrittenIsSaidBeforeTheStart) {
  EXPECT_EQ(check_replaceable("--report", "/no/such/r.json").error().text,
            "--report: cannot write '/no/such/r.json': no such file or directory");
  EXPECT_THAT(check_replaceable("--report", folder_.path()).error().text,
              HasSubstr("is a directory"));
  EXPECT_THAT(check_replaceable("--report", (*this)("x/")).error().text, HasSubstr("cannot write"));
  EXPECT_EQ(files(), 0) << "the check leaves no trace";
}

}  // namespace
}  // namespace ddprun::report
