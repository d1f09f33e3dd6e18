// The manual's page about ranks in two languages: its programs, and its commands.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "rendezvous/base/read_file.h"
#include "tests/integration/manual_examples/example.h"
#include "tests/integration/manual_examples/hosts.h"

namespace ddprun::test {
namespace {

TEST(MixedPage, ShowsWhatHappens) {
  const std::string file = DDPRUN_TASK_PAGES "/mixed-ranks.md";
  const std::string page = read_file(file).value_or("");
  const auto scripts = blocks_of("python", page);
  ASSERT_EQ(scripts.size(), 1u);
  const TemporaryFolder folder;
  std::ofstream(folder / "train.py") << scripts[0];
  std::filesystem::create_symlink(MIXED_PAGE, folder / "train");
  const auto bin = std::filesystem::path(getenv("DDPRUN_INTEROP_PYTHON")).parent_path().string();
  const auto examples = examples_in(page);
  ASSERT_FALSE(examples.empty());
  for (const Example& example : examples)
    expect_shown(file, example,
                 run_shell("cd '" + folder.path() + "'; PATH='" DDPRUN_PROGRAMS "':'" + bin +
                               "':$PATH; " + example.command,
                           {.limit = std::chrono::seconds(90)}));
}

}  // namespace
}  // namespace ddprun::test
