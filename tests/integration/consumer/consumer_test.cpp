// `cmake --install --component worker_sdk`, and a project outside the tree that has nothing else.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/integration/support/run.h"

namespace ddprun::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

constexpr std::chrono::seconds kLong{500};

class Consumer : public testing::Test {
 protected:
  // Installed into one folder and moved to another: nothing may know where it once was.
  void SetUp() override {
    for (const char* component : {"launcher", "worker_sdk"}) {
      const Finished end = run({DDPRUN_CMAKE, "--install", DDPRUN_BUILD_FOLDER, "--prefix",
                                folder_ / "first", "--component", component},
                               {.limit = kLong});
      ASSERT_EQ(end.code, 0) << end.err;
    }
    fs::rename(folder_ / "first", prefix_);
  }

  // With the variables that let ccache find the same program in another temporary folder.
  Finished build(const std::vector<std::string>& words,
                 std::vector<std::string> environment = {}) const {
    environment.insert(environment.end(),
                       {"CCACHE_NOHASHDIR=1", "CCACHE_BASEDIR=" + folder_.path()});
    return run(words, {.environment = environment, .limit = kLong});
  }

  Finished configure(const std::vector<std::string>& more,
                     const std::vector<std::string>& environment = {}) {
    std::vector<std::string> words{DDPRUN_CMAKE,
                                   "-S",
                                   CONSUMER_PROJECT,
                                   "-B",
                                   build_,
                                   "-DCMAKE_PREFIX_PATH=" + prefix_,
                                   "-DCMAKE_CXX_COMPILER=" DDPRUN_CXX,
                                   "-DCMAKE_CXX_COMPILER_LAUNCHER=" DDPRUN_CCACHE};
    words.insert(words.end(), more.begin(), more.end());
    return run(words, {.environment = environment, .limit = kLong});
  }

  // What each of two ranks of the program says after "rank R of 2: ".
  std::vector<std::string> said_on_two_ranks(const std::string& program) {
    const Finished end = run({prefix_ + "/bin/ddprun", "-n", "2", "--device", "cpu", program},
                             {.limit = std::chrono::seconds(60)});
    EXPECT_EQ(end.code, 0) << end.err;
    auto said = lines(end.out);
    std::sort(said.begin(), said.end());
    for (std::size_t rank = 0; rank < said.size(); ++rank) {
      const std::string start = "rank " + std::to_string(rank) + " of 2: ";
      EXPECT_THAT(said[rank], testing::StartsWith(start));
      said[rank].erase(0, start.size());
    }
    return said;
  }

  TemporaryFolder folder_;
  const std::string prefix_ = folder_ / "second", build_ = folder_ / "build";
};

TEST_F(Consumer, IsBuiltByCMakeAndTrains) {
  const Finished configured =
      configure({"-DCONSUMER_COMPONENTS=worker_sdk", "-DTorch_ROOT=" TORCH_FOLDER});
  ASSERT_EQ(configured.code, 0) << configured.err;
  const Finished built = build({DDPRUN_CMAKE, "--build", build_});
  ASSERT_EQ(built.code, 0) << built.out << built.err;
  const auto said = said_on_two_ranks(build_ + "/train");
  ASSERT_EQ(said.size(), 2u);
  EXPECT_THAT(said[0], testing::StartsWith("weights "));
  EXPECT_EQ(said[0], said[1]);
}

TEST_F(Consumer, IsBuiltWithPkgConfigAndAddsUp) {
  if (::access("/usr/bin/pkg-config", X_OK) != 0 || ::access("/usr/bin/make", X_OK) != 0)
    GTEST_SKIP() << "pkg-config or make is not installed: the .pc file was NOT tried";
  fs::create_directory(build_);
  const Finished built = build({"/usr/bin/make", "-C", build_, "-f", CONSUMER_PROJECT "/Makefile",
                                "VPATH=" CONSUMER_PROJECT, "CXX=" DDPRUN_CCACHE " " DDPRUN_CXX},
                               {"PKG_CONFIG_PATH=" + prefix_ + "/lib/pkgconfig"});
  ASSERT_EQ(built.code, 0) << built.out << built.err;
  EXPECT_THAT(said_on_two_ranks(build_ + "/sum"), testing::ElementsAre("sum 3", "sum 3"));
}

// As a user has it who sets what `python -c "import torch; print(torch.utils.cmake_prefix_path)"`
// prints.
TEST_F(Consumer, FindsLibTorchWherePythonsTorchSaysItIs) {
  const Finished end = configure(
      {"-DCONSUMER_COMPONENTS=worker_sdk",
       "-DCMAKE_PREFIX_PATH=" + prefix_ + ";" TORCH_FOLDER "/share/cmake", "-DDDPRUN_PYTHON="},
      {"HOME=" + folder_.path()});
  EXPECT_EQ(end.code, 0) << end.err;
}

std::string text_of(const fs::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST_F(Consumer, NothingInstalledNamesTheTreeOrThePrefix) {
  int files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(prefix_ + "/lib")) {
    const std::string extension = entry.path().extension();
    if (extension != ".cmake" && extension != ".pc") continue;
    ++files;
    for (const std::string& place :
         {std::string(DDPRUN_SOURCE_FOLDER), std::string(DDPRUN_BUILD_FOLDER), folder_.path()}) {
      EXPECT_THAT(text_of(entry.path()), Not(HasSubstr(place))) << entry.path();
    }
  }
  EXPECT_EQ(files, 6);
}

TEST_F(Consumer, HasThePluginBesideTheLibrary) {
#ifndef DDPRUN_WITH_NCCL
  GTEST_SKIP() << "built without CUDA: there is no plug-in to install";
#endif
  EXPECT_TRUE(fs::exists(prefix_ + "/lib/libddp_nccl.so"));
  EXPECT_TRUE(fs::exists(prefix_ + "/lib/libddp.so"));
}

// CMake breaks long lines; this is the text in one.
std::string in_one_line(const std::string& text) {
  std::string line;
  for (const char each : text) {
    const bool space = each == ' ' || each == '\n';
    if (!space || (!line.empty() && line.back() != ' ')) line += space ? ' ' : each;
  }
  return line;
}

TEST_F(Consumer, AnotherLibTorchIsRefusedByItsVersion) {
  const std::string other = folder_ / "other", headers = other + "/include/torch/headeronly";
  fs::create_directories(headers);
  fs::create_directories(other + "/lib");
  std::ofstream(other + "/lib/libtorch_cpu.so") << "";
  std::ofstream(headers + "/version.h")
      << "#define TORCH_VERSION_MAJOR 2\n#define TORCH_VERSION_MINOR 99\n"
         "#define TORCH_VERSION_PATCH 1\n";
  const Finished end = configure({"-DCONSUMER_COMPONENTS=worker_sdk", "-DTorch_ROOT=" + other});
  EXPECT_NE(end.code, 0);
  EXPECT_THAT(in_one_line(end.err),
              HasSubstr("ddprun's worker_sdk was built with LibTorch " TORCH_FOUND_VERSION
                        " and needs that version, but found was 2.99.1 in " +
                        other + ". Give -DTorch_ROOT=FOLDER"));
}

TEST_F(Consumer, WithoutALibTorchItIsSaidWhereItWasLookedFor) {
  const std::string nowhere = folder_ / "nowhere";
  const Finished end = configure({"-DCONSUMER_COMPONENTS=worker_sdk", "-DTorch_ROOT=" + nowhere});
  EXPECT_NE(end.code, 0);
  EXPECT_THAT(in_one_line(end.err),
              HasSubstr("but none was found (looked in: " + nowhere + "). Give -DTorch_ROOT"));
}

TEST_F(Consumer, AnUnknownComponentIsNamed) {
  const Finished end = configure({"-DCONSUMER_COMPONENTS=rdzvd", "-DTorch_ROOT=" TORCH_FOLDER});
  EXPECT_NE(end.code, 0);
  EXPECT_THAT(in_one_line(end.err),
              HasSubstr("ddprun has no component 'rdzvd'; there is worker_sdk."));
}

}  // namespace
}  // namespace ddprun::test
