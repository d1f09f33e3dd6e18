// The manual page in the programs that show it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/integration/support/run.h"

namespace ddprun::test {
namespace {

// All three, by their files.
class EachPage : public testing::TestWithParam<std::string> {
 protected:
  std::string file() const { return DDPRUN_PAGES "/" + GetParam(); }
};

TEST_P(EachPage, IsShownWithoutAWarning) {
  if (::access("/usr/bin/man", X_OK) != 0)
    GTEST_SKIP() << "man is not installed: the page was NOT shown";
  const Finished end =
      run({"/usr/bin/man", "-l", "--warnings", file()}, {.environment = {"MANPAGER=cat"}});
  EXPECT_EQ(end.code, 0);
  EXPECT_EQ(end.err, "");
  EXPECT_THAT(end.out, testing::HasSubstr("SEE ALSO"));
}

TEST_P(EachPage, MandocHasNothingToWarnOf) {
  if (::access("/usr/bin/mandoc", X_OK) != 0)
    GTEST_SKIP() << "mandoc is not installed: the page was NOT checked";
  const Finished end = run({"/usr/bin/mandoc", "-T", "lint", "-W", "warning", file()});
  EXPECT_EQ(end.code, 0);
  EXPECT_EQ(end.out + end.err, "");
}

INSTANTIATE_TEST_SUITE_P(ManualPage, EachPage,
                         testing::Values("man1/ddprun.1", "man1/rdzvctl.1", "man8/rdzvd.8"),
                         [](const auto& page) {
                           return page.param.substr(5, page.param.find('.') - 5);
                         });

TEST(ManualPage, GroffHasNothingToSay) {
  if (::access("/usr/bin/groff", X_OK) != 0)
    GTEST_SKIP() << "groff is not installed: the manual page was NOT rendered";
  const Finished end = run({"/usr/bin/groff", "-man", "-ww", "-Tutf8", "-P-cbou", DDPRUN_MANUAL});
  EXPECT_EQ(end.code, 0);
  EXPECT_EQ(end.err, "");
  EXPECT_THAT(end.out, testing::HasSubstr("--nproc-per-node"));
  EXPECT_THAT(end.out, testing::HasSubstr("EXIT STATUS"));
}

TEST(ManualPage, ManShowsIt) {
  if (::access("/usr/bin/man", X_OK) != 0)
    GTEST_SKIP() << "man is not installed: the manual page was NOT shown";
  const Finished end =
      run({"/usr/bin/man", "-l", "--warnings", DDPRUN_MANUAL}, {.environment = {"MANPAGER=cat"}});
  EXPECT_EQ(end.code, 0);
  EXPECT_EQ(end.err, "");
  EXPECT_THAT(end.out, testing::HasSubstr("ddprun - start and watch"));
}

}  // namespace
}  // namespace ddprun::test
