// A folder in which a command line finds everything it names, and what its workers were given.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/integration/support/run.h"

namespace ddprun::test {

// What one worker was given.
struct Record {
  std::vector<std::string> argv;
  std::map<std::string, std::string> environment;

  // The arguments of the script, module or program: without the interpreter's words and the name.
  std::vector<std::string> arguments() const;
  // What Python was told to run; empty where it was not Python that was started.
  std::string script() const;
  std::string get(const std::string& name) const;
};

class Stage {
 public:
  Stage();

  // Makes scripts and programs of these names, unless they are found without it.
  void add_script(const std::string& path);
  void add_program(const std::string& name);
  // Runs ddprun there with `words`; `environment` comes on top of a small fixed one.
  Finished run(const std::vector<std::string>& words, const std::vector<std::string>& environment);
  // Of the last run; empty where the rank did not run.
  std::optional<Record> record(int rank) const;
  int number_of_records() const;
  // The names of the variables that a program has which is started there without ddprun.
  const std::map<std::string, std::string>& inherited() const { return inherited_; }

 private:
  Finished start(const std::vector<std::string>& words,
                 const std::vector<std::string>& environment);

  TemporaryFolder folder_;
  std::map<std::string, std::string> inherited_;
};

// "A=1 B=2" -> its two words.
std::vector<std::string> split_blanks(const std::string& text);

}  // namespace ddprun::test
