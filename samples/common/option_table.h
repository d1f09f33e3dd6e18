// The command line of a sample: options with a value, "--epochs 3" or "--epochs=3", and --help.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace samples {

// Which options there are and where their values go. The targets must outlive parse().
class OptionTable {
 public:
  // Takes the value of the option of this name; throws std::invalid_argument if it is none.
  using Take = std::function<void(const std::string& name, const std::string& value)>;

  void add(const std::string& name, Take take);
  void text(const std::string& name, std::string& target);
  // A whole number from 1 to 1000000.
  void count(const std::string& name, int& target);
  // Such numbers with commas between them: "1,2,4".
  void counts(const std::string& name, std::vector<int>& target);
  // A number above 0 and up to 1000000.
  void positive(const std::string& name, double& target);
  // One of some words.
  void word(const std::string& name, std::string& target, const std::vector<std::string>& allowed);

  // Gives each value to its target. True if --help or -h was among the words. Throws
  // std::invalid_argument naming the word, what was expected and what was found.
  bool parse(const std::vector<std::string>& arguments) const;

 private:
  std::map<std::string, Take> options_;
};

}  // namespace samples
