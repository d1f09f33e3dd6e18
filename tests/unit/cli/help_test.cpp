// --help and --version, and that the table they are made from is sound.
#include "launcher/cli/help.h"

#include <gmock/gmock.h>

#include <set>
#include <sstream>

#include "launcher/cli/options.h"
#include "launcher/cli/version.h"
#include "tests/unit/cli/parsing.h"

namespace ddprun::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;

Exit exit_of(const Words& words, const Words& environment = {}) {
  auto result = parse(words, Environment(environment));
  const Exit* exit = std::get_if<Exit>(&result);
  if (exit == nullptr) ADD_FAILURE() << "ddprun would go on";
  return exit == nullptr ? Exit{-1, "", ""} : *exit;
}

TEST(Help, IsPrintedWhateverElseIsThere) {
  for (const Words& words : {Words{"--help"}, Words{"-h"}, Words{"-n", "x", "--help", "--wrong"}}) {
    const Exit exit = exit_of(words, {"PET_NPROC_PER_NODE=x"});
    EXPECT_EQ(exit.code, 0);
    EXPECT_EQ(exit.err, "");
    EXPECT_EQ(exit.out, help_text());
  }
}

TEST(Help, FitsEightyColumns) {
  std::istringstream lines(help_text());
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80u) << line;
  EXPECT_TRUE(help_text().ends_with('\n'));
}

TEST(Help, ListsEveryOption) {
  const std::string text = help_text();
  for (const Option& option : options()) {
    if (!option.never_there()) {
      EXPECT_THAT(text, HasSubstr("--" + std::string(option.name))) << "missing";
    }
    if (option.name.find('-') != std::string_view::npos) {
      EXPECT_THAT(text, HasSubstr("--" + with_underscores(option.name)));
    }
  }
}

// A heading with nothing below it looks like a help that was cut off.
TEST(Help, KeepsWhatIsNotThereApartIfThereIsAny) {
  const bool any = std::ranges::any_of(options(), [](const Option& option) {
    return option.availability == Availability::later && !option.never_there();
  });
  const auto later = help_text().find("Not available yet");
  EXPECT_EQ(later != std::string::npos, any);
  EXPECT_LT(help_text().find("--max-restarts"), later);
}

TEST(Version, IsOneLine) {
  const Exit exit = exit_of({"--version"});
  EXPECT_EQ(exit.code, 0);
  EXPECT_EQ(exit.out, "ddprun " + std::string(version()) + "\n");
  EXPECT_EQ(exit_of({"-V"}).out, exit.out);
  EXPECT_THAT(std::string(version()), MatchesRegex("[0-9]+\\.[0-9]+\\.[0-9]+"));
}

TEST(Table, NamesAreUniqueAndSpelledWithDashes) {
  std::set<std::string_view> names;
  std::set<char> letters;
  for (const Option& option : options()) {
    EXPECT_TRUE(names.insert(option.name).second) << option.name;
    if (!option.alias.empty()) {
      EXPECT_TRUE(names.insert(option.alias).second) << option.alias;
    }
    EXPECT_EQ(option.name.find('_'), std::string_view::npos) << option.name;
    if (option.letter != 0) {
      EXPECT_TRUE(letters.insert(option.letter).second) << option.letter;
    }
  }
}

TEST(Table, ReadyOptionsAreExplained) {
  for (const Option& option : options()) {
    const bool ready = option.availability == Availability::ready;
    EXPECT_EQ(ready, !option.help.empty()) << option.name;
    if (ready && !option.ends_the_scan()) {
      EXPECT_NE(option.apply, nullptr) << option.name;
    }
  }
}

TEST(Table, VariablesAreThoseOfTorchrun) {
  EXPECT_EQ(variable_of(*find_option("nproc-per-node")), "PET_NPROC_PER_NODE");
  EXPECT_EQ(variable_of(*find_option("master-port")), "PET_MASTER_PORT");
  for (const char* none : {"logs-specs", "numa-binding", "print-completion", "use-env", "help"})
    EXPECT_EQ(variable_of(*find_option(none)), "") << none;
}

}  // namespace
}  // namespace ddprun::cli
