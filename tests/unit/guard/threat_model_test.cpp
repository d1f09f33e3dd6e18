// docs/security.md names the test behind each promise: they have to be there.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>

namespace ddprun {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

// "Suite.Name" of every match with two groups.
std::set<std::string> names_in(const std::string& text, const std::regex& pattern) {
  std::set<std::string> names;
  for (std::sregex_iterator match(text.begin(), text.end(), pattern), end; match != end; ++match)
    names.insert((*match)[1].str() + "." + (*match)[2].str());
  return names;
}

TEST(ThreatModel, NamesOnlyTestsThatExist) {
  std::set<std::string> all;
  const std::regex test(R"(TEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\))");
  for (const auto& entry : fs::recursive_directory_iterator(DDPRUN_TESTS_FOLDER))
    if (entry.path().extension() == ".cpp") all.merge(names_in(text_of(entry.path()), test));
  const auto named =
      names_in(text_of(DDPRUN_SECURITY_PAGE), std::regex(R"(`([A-Z]\w+)\.([A-Z]\w+)`)"));
  EXPECT_GT(named.size(), 15u);
  for (const std::string& name : named) EXPECT_TRUE(all.contains(name)) << "no test " << name;
}

}  // namespace
}  // namespace ddprun
