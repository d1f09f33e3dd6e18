// Files are read whole or not at all.
#include "rendezvous/base/read_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace ddprun {
namespace {

TEST(ReadFileTest, AFileOfAnySizeIsReadWhole) {
  const std::string path =
      std::filesystem::temp_directory_path() / ("ddprun-read-" + std::to_string(::getpid()));
  const std::string text = std::string(10'000, 'x') + '\0' + "end";
  std::ofstream(path, std::ios::binary) << text;
  EXPECT_EQ(read_file(path), text);
  std::ofstream(path, std::ios::trunc).flush();
  EXPECT_EQ(read_file(path), "");
  std::filesystem::remove(path);
  EXPECT_EQ(read_file(path), std::nullopt);
}

TEST(ReadFileTest, AFolderIsNoFile) {
  EXPECT_EQ(read_file("/proc"), std::nullopt);
}

// The folder of a process that has gone can still be open, and its files can no longer be read.
TEST(ReadFileTest, AProcessThatVanishesIsNoError) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    for (;;) ::pause();
  }
  const std::string folder = "/proc/" + std::to_string(pid);
  const int fd = ::open((folder + "/status").c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_GE(fd, 0);
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
  // Opened before the end and read after it: what happens when the end comes between the two.
  EXPECT_EQ(read_file("/proc/self/fd/" + std::to_string(fd)), std::nullopt);
  EXPECT_EQ(read_file(folder + "/status"), std::nullopt);
  ::close(fd);
}

}  // namespace
}  // namespace ddprun
