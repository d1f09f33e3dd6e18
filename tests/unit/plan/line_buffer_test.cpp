#include "launcher/plan/line_buffer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ddprun::plan {
namespace {

using testing::UnorderedElementsAre;

TEST(LineBuffer, AddsTheLibraryAndItsVariable) {
  const cli::Environment parent(std::vector<std::string>{"HOME=/h"});
  EXPECT_THAT(
      line_buffered(parent, "/l.so").entries(),
      UnorderedElementsAre("HOME=/h", "LD_PRELOAD=/l.so", "_STDBUF_O=L", "PYTHONUNBUFFERED=1"));
}

TEST(LineBuffer, ComesBehindLibrariesThatAreThereAlready) {
  const cli::Environment parent(std::vector<std::string>{"LD_PRELOAD=/a.so", "_STDBUF_O=0"});
  EXPECT_THAT(line_buffered(parent, "/l.so").entries(),
              UnorderedElementsAre("LD_PRELOAD=/a.so:/l.so", "_STDBUF_O=L", "PYTHONUNBUFFERED=1"));
}

TEST(LineBuffer, WithoutTheLibraryPythonIsStillReached) {
  const cli::Environment parent(std::vector<std::string>{"LD_PRELOAD=/a.so"});
  EXPECT_THAT(line_buffered(parent, "").entries(),
              UnorderedElementsAre("LD_PRELOAD=/a.so", "PYTHONUNBUFFERED=1"));
}

TEST(LineBuffer, TheFirstPlaceThatIsThereCounts) {
  EXPECT_EQ(find_stdbuf_library({"/no/where.so", "/proc/self/exe", "/dev/null"}), "/proc/self/exe");
  EXPECT_EQ(find_stdbuf_library({"/no/where.so"}), "");
}

}  // namespace
}  // namespace ddprun::plan
