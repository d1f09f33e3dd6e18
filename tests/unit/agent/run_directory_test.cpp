// The private directory of a run, in a folder that the test makes.
#include "launcher/agent/run_directory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>

#include "tests/support/temporary_folder.h"

namespace ddprun::agent {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

class RunDirectoryTest : public testing::Test {
 protected:
  RunDirectory make(const std::string& id = "job") {
    auto made = RunDirectory::create({.path = base_}, id);
    EXPECT_TRUE(made) << made.error().text;
    return std::move(*made);
  }
  bool base_is_empty() const { return fs::is_empty(base_); }

  const test::TemporaryFolder temporary_;
  const std::string folder_ = temporary_.path(), base_ = folder_ + "/base";
};

TEST_F(RunDirectoryTest, IsPrivateAndHasAPlaceForEachWorker) {
  RunDirectory directory = make();
  ASSERT_TRUE(directory.make_worker_directory(0, 0));
  ASSERT_TRUE(directory.make_worker_directory(0, 12));
  ASSERT_TRUE(directory.make_worker_directory(1, 0));
  const std::string file = directory.error_file(0, 12);
  EXPECT_THAT(file, testing::MatchesRegex(".*/base/job_[a-z0-9]+/attempt_0/12/error.json"));
  std::ofstream(file) << "text";
  EXPECT_EQ(read_error_file(file), "text");
  EXPECT_EQ(read_error_file(directory.error_file(1, 0)), "");
  struct stat info {};
  ASSERT_EQ(::stat(base_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700U);
}

TEST_F(RunDirectoryTest, WithoutFilesItGoes) {
  {
    RunDirectory directory = make();
    ASSERT_TRUE(directory.make_worker_directory(0, 0));
  }
  EXPECT_TRUE(base_is_empty());
}

TEST_F(RunDirectoryTest, WithAFileItStaysUnlessItIsRemoved) {
  std::optional<RunDirectory> directory(make());
  ASSERT_TRUE(directory->make_worker_directory(0, 0));
  ASSERT_TRUE(directory->make_worker_directory(0, 1));
  const std::string file = directory->error_file(0, 0);
  const std::string other = fs::path(directory->error_file(0, 1)).parent_path();
  std::ofstream(file) << "why it failed";
  directory.reset();
  EXPECT_EQ(read_error_file(file), "why it failed");
  EXPECT_FALSE(fs::exists(other));

  RunDirectory second = make();
  ASSERT_TRUE(second.make_worker_directory(0, 0));
  std::ofstream(second.error_file(0, 0)) << "x";
  second.remove();
  EXPECT_FALSE(fs::exists(second.error_file(0, 0)));
}

TEST_F(RunDirectoryTest, TwoRunsOfOneIdAreApart) {
  const RunDirectory one = make(), two = make();
  EXPECT_NE(one.error_file(0, 0), two.error_file(0, 0));
}

TEST_F(RunDirectoryTest, AnIdCannotLeaveTheBase) {
  const RunDirectory directory = make("../../etc/x y");
  EXPECT_THAT(directory.error_file(0, 0), HasSubstr(base_ + "/.._.._etc_x_y_"));
}

TEST_F(RunDirectoryTest, ABaseThatOthersCanChangeIsRefused) {
  fs::create_directory(base_);
  ::chmod(base_.c_str(), 0777);
  const auto open = RunDirectory::create({.path = base_}, "job");
  ASSERT_FALSE(open);
  EXPECT_THAT(open.error().text, HasSubstr(base_));
  fs::remove(base_);
  fs::create_directory(folder_ + "/elsewhere");
  fs::create_directory_symlink(folder_ + "/elsewhere", base_);
  EXPECT_FALSE(RunDirectory::create({.path = base_}, "job"));
}

TEST_F(RunDirectoryTest, AFolderThatIsNotThereIsNamed) {
  const auto made = RunDirectory::create({.path = folder_ + "/no/base"}, "job");
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().text,
              testing::AllOf(HasSubstr(folder_ + "/no/base"), HasSubstr("TMPDIR")));
}

// --log-dir.
class NamedRunDirectoryTest : public RunDirectoryTest {
 protected:
  RunDirectory make_named(const std::string& path) {
    auto made = RunDirectory::create({.path = path, .named = true}, "job");
    EXPECT_TRUE(made) << made.error().text;
    return std::move(*made);
  }
};

TEST_F(NamedRunDirectoryTest, IsPrivateInABaseThatBelongsToEverybody) {
  fs::create_directory(base_);
  ::chmod(base_.c_str(), 01777);
  RunDirectory directory = make_named(base_);
  struct stat info {};
  ASSERT_EQ(::stat(directory.path().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700U);
}

TEST_F(NamedRunDirectoryTest, AMissingBaseIsMadeWithItsParents) {
  const RunDirectory directory = make_named(folder_ + "/a/b/c");
  EXPECT_TRUE(fs::is_directory(folder_ + "/a/b/c"));
}

TEST_F(NamedRunDirectoryTest, AFileIsNoBase) {
  std::ofstream(base_) << "x";
  const auto made = RunDirectory::create({.path = base_, .named = true}, "job");
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().text, testing::AllOf(HasSubstr(base_), HasSubstr("Not a directory"),
                                                HasSubstr("--log-dir")));
}

TEST_F(NamedRunDirectoryTest, WhatIsKeptStaysAlsoWhenItIsEmpty) {
  std::string path;
  {
    RunDirectory directory = make_named(base_);
    directory.keep();
    ASSERT_TRUE(directory.make_worker_directory(0, 3));
    directory.remove();
    path = directory.worker_path(0, 3);
  }
  EXPECT_TRUE(fs::is_directory(path));
}

TEST_F(NamedRunDirectoryTest, LatestLeadsToTheLastRunAndMovesWithTheTree) {
  const RunDirectory one = make_named(base_), two = make_named(base_);
  ASSERT_TRUE(one.link_latest());
  ASSERT_TRUE(two.link_latest());
  EXPECT_EQ(fs::read_symlink(base_ + "/latest"), fs::path(two.path()).filename());
  EXPECT_EQ(std::distance(fs::directory_iterator(base_), fs::directory_iterator()), 3);
}

TEST_F(NamedRunDirectoryTest, ALatestThatIsNoLinkStays) {
  const RunDirectory directory = make_named(base_);
  std::ofstream(base_ + "/latest") << "mine";
  const auto linked = directory.link_latest();
  ASSERT_FALSE(linked);
  EXPECT_THAT(linked.error().text, HasSubstr(base_ + "/latest"));
  EXPECT_TRUE(fs::is_regular_file(base_ + "/latest"));
}

TEST_F(NamedRunDirectoryTest, ATreeThatSomebodyRemovedIsMadeAgain) {
  RunDirectory directory = make_named(base_);
  ASSERT_TRUE(directory.make_worker_directory(0, 0));
  fs::remove_all(directory.path());
  ASSERT_TRUE(directory.make_worker_directory(1, 0));
  EXPECT_TRUE(fs::is_directory(directory.worker_path(1, 0)));
}

TEST(NoRunDirectoryTest, HasNoPathsAndMakesNothing) {
  RunDirectory none = RunDirectory::none();
  EXPECT_TRUE(none.make_worker_directory(0, 0));
  EXPECT_EQ(none.path() + none.attempt_path(0) + none.worker_path(0, 0) + none.error_file(0, 0),
            "");
}

TEST(LogBaseTest, IsTheNamedOneOrTheDefault) {
  EXPECT_EQ(log_base("/logs", "/scratch").path, "/logs");
  EXPECT_TRUE(log_base("/logs", "/scratch").named);
  EXPECT_EQ(log_base({}, "/scratch").path, default_base("/scratch"));
  EXPECT_FALSE(log_base({}, "/scratch").named);
  EXPECT_EQ(log_base("./logs/", nullptr).path, (fs::current_path() / "logs").string());
}

TEST(DefaultBaseTest, FollowsTmpdir) {
  EXPECT_EQ(default_base("/scratch"), "/scratch/ddprun-" + std::to_string(::geteuid()));
  EXPECT_THAT(default_base(nullptr), Not(testing::IsEmpty()));
  EXPECT_EQ(default_base(""), default_base(nullptr));
}

TEST(RandomTextTest, HasTheLengthAndIsNotTheSameTwice) {
  EXPECT_EQ(random_text(8).size(), 8U);
  EXPECT_NE(random_text(16), random_text(16));
}

}  // namespace
}  // namespace ddprun::agent
