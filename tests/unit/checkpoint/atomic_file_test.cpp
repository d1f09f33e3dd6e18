#include "worker_sdk/src/checkpoint/atomic_file.h"

#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <climits>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "tests/support/temporary_folder.h"
#include "tests/unit/checkpoint/error_of.h"

namespace ddp::detail::test {
namespace {

using testing::HasSubstr;

class AtomicFileTest : public testing::Test {
 protected:
  static std::string content(const std::string& name) {
    std::ifstream file(name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void put(const std::string& text) const {
    AtomicFile file(path);
    file.write(text);
    file.commit();
  }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
  }

  const ddprun::test::TemporaryFolder temporary;
  const std::string folder = temporary.path(), path = folder + "/file";
};

TEST_F(AtomicFileTest, ReplacesTheOldFileAtTheEndOnly) {
  put("old");
  const std::string large(200'000, 'x');
  {
    AtomicFile file(path);
    file.write("new ");
    file.write(large);
    file.write("!");
    EXPECT_EQ(content(path), "old");
    file.commit();
  }
  EXPECT_EQ(content(path), "new " + large + "!");
  EXPECT_EQ(files(), 1u);
}

TEST_F(AtomicFileTest, WithoutCommitNothingStays) {
  put("old");
  { AtomicFile(path).write("new"); }
  EXPECT_EQ(content(path), "old");
  EXPECT_EQ(files(), 1u);
}

TEST_F(AtomicFileTest, TwoWritersDoNotMix) {
  AtomicFile one(path), other(path);
  one.write("one");
  other.write("other");
  one.commit();
  EXPECT_EQ(content(path), "one");
  other.commit();
  EXPECT_EQ(content(path), "other");
  EXPECT_EQ(files(), 1u);
}

TEST_F(AtomicFileTest, ALinkStaysOne) {
  std::filesystem::create_symlink("target", path);
  put("text");
  EXPECT_TRUE(std::filesystem::is_symlink(path));
  EXPECT_EQ(content(folder + "/target"), "text");
}

TEST_F(AtomicFileTest, KeepsTheModeOfTheOldFile) {
  put("old");
  for (const mode_t mode : {0640u, 0600u, 0666u}) {
    ASSERT_EQ(chmod(path.c_str(), mode), 0);
    put("new");
    struct stat found {};
    ASSERT_EQ(stat(path.c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 07777u, mode);
  }
}

TEST_F(AtomicFileTest, ANameMayBeAsLongAsTheFileSystemHasIt) {
  const std::string longest = folder + "/" + std::string(NAME_MAX, 'n');
  AtomicFile file(longest);
  file.write("text");
  file.commit();
  EXPECT_EQ(content(longest), "text");
  EXPECT_EQ(files(), 1u);
}

TEST_F(AtomicFileTest, NamesWhatCannotBeWritten) {
  const std::string missing = folder + "/missing/file";
  EXPECT_THAT(error_of([&] { AtomicFile file(missing); }),
              testing::AllOf(HasSubstr(missing), HasSubstr("No such file or directory")));
  EXPECT_THAT(error_of([&] { AtomicFile file(folder); }), HasSubstr("Is a directory"));
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_THAT(error_of([&] { AtomicFile file(path); }), HasSubstr("no plain file"));
  EXPECT_THAT(error_of([&] { FileSource file(path); }), HasSubstr("no plain file"));
  EXPECT_THAT(error_of([&] { FileSource file(missing); }),
              HasSubstr(missing + " cannot be read: No such file or directory"));
}

// As a full disk does: the write fails, in a process of its own because the limit is for all of it.
TEST_F(AtomicFileTest, AFullDiskLeavesTheOldFile) {
  put("old");
  const pid_t child = fork();
  if (child == 0) {
    const rlimit limit{100'000, 100'000};
    setrlimit(RLIMIT_FSIZE, &limit);
    std::signal(SIGXFSZ, SIG_IGN);
    const std::string error = error_of([&] { put(std::string(300'000, 'x')); });
    _exit(error == path + " cannot be written: File too large" ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(content(path), "old");
  EXPECT_EQ(files(), 1u);
}

TEST_F(AtomicFileTest, SourceReadsAnywhere) {
  put("0123456789");
  FileSource file(path);
  EXPECT_EQ(file.size(), 10u);
  EXPECT_EQ(file.text(3, 4, "it"), "3456");
  EXPECT_THAT(error_of([&] { file.text(8, 3, "the end"); }),
              HasSubstr("it is cut: the end ends at byte 11, the file at 10"));
  EXPECT_NE(error_of([&] { file.text(~std::uint64_t{0}, 2, "it"); }), "");
  std::filesystem::resize_file(path, 5);
  EXPECT_THAT(error_of([&] { file.text(3, 4, "it"); }), HasSubstr("became shorter"));
}

}  // namespace
}  // namespace ddp::detail::test
