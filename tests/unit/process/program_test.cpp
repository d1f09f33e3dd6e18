// A program name is found as execvp finds it.
#include "launcher/process/program.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

#include "launcher/process/signals.h"
#include "rendezvous/base/unique_fd.h"
#include "tests/support/temporary_folder.h"

namespace ddprun::process {
namespace {

class ProgramTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* sub : {"/one", "/two"}) std::filesystem::create_directory(folder_ + sub);
  }

  std::string add(const std::string& path, mode_t mode) {
    std::ofstream(folder_ + path) << "#!/bin/sh\n";
    ::chmod((folder_ + path).c_str(), mode);
    return folder_ + path;
  }
  std::string search_path() const { return folder_ + "/one:" + folder_ + "/two"; }

  const test::TemporaryFolder temporary_;
  const std::string folder_ = temporary_.path();
};

TEST_F(ProgramTest, ANameIsSearchedInOrder) {
  add("/two/train", 0755);
  EXPECT_EQ(find_program("train", search_path()).path, folder_ + "/two/train");
  const std::string first = add("/one/train", 0755);
  const ProgramFile found = find_program("train", search_path());
  EXPECT_EQ(found.path, first);
  EXPECT_EQ(found.error, 0);
}

TEST_F(ProgramTest, AFileThatMayNotBeExecutedIsPassedOverAndNamedOnlyIfNothingElseIsThere) {
  const std::string blocked = add("/one/train", 0000);
  if (::access(blocked.c_str(), X_OK) == 0) GTEST_SKIP() << "this user may execute everything";
  EXPECT_EQ(find_program("train", search_path()).error, EACCES);
  EXPECT_EQ(find_program("train", search_path()).path, blocked);
  add("/two/train", 0755);
  EXPECT_EQ(find_program("train", search_path()).error, 0);
}

TEST_F(ProgramTest, ANameWithASlashIsNotSearched) {
  add("/one/train", 0755);
  EXPECT_EQ(find_program("./train", search_path()).error, ENOENT);
  EXPECT_EQ(find_program("./train", search_path()).path, "./train");
}

TEST_F(ProgramTest, RelativePathsAreSeenFromTheDirectory) {
  const std::string program = add("/one/train", 0755);
  const UniqueFd one(::open((folder_ + "/one").c_str(), O_PATH | O_DIRECTORY));
  EXPECT_EQ(find_program("./train", "", one.get()).error, 0);
  EXPECT_EQ(find_program("./train", "", one.get()).path, "./train");
  EXPECT_EQ(find_program("train", "/nowhere:../one", one.get()).path, "../one/train");
  EXPECT_EQ(find_program("train", ":", one.get()).path, "./train");
  EXPECT_EQ(find_program("./one/train", "", one.get()).error, ENOENT);
  EXPECT_EQ(find_program(program, "", one.get()).error, 0);
}

TEST_F(ProgramTest, AFolderIsNoProgram) {
  EXPECT_EQ(find_program(folder_, "").error, EISDIR);
  std::filesystem::create_directory(folder_ + "/one/train");
  EXPECT_EQ(find_program("train", search_path()).error, ENOENT);
}

TEST_F(ProgramTest, AnEmptyNameOrPathFindsNothing) {
  EXPECT_EQ(find_program("", search_path()).error, ENOENT);
  EXPECT_EQ(find_program("no-such-program", "").error, ENOENT);
}

TEST(SignalsTest, TheMaskOfCaughtSignalsIsRead) {
  const std::string status = "Name:\tx\nSigIgn:\tffffffffffffffff\nSigCgt:\t0000000000000200\n";
  EXPECT_TRUE(catches(status, 10));
  EXPECT_FALSE(catches(status, 12));
  EXPECT_FALSE(catches("", 10));
}

}  // namespace
}  // namespace ddprun::process
