// The examples of the manual: what stands in its ```console blocks.
#pragma once

#include <string>
#include <vector>

namespace ddprun::test {

// "$ COMMAND", the lines of its output, "[exit code N]".
struct Example {
  int line = 0;  // of the command, in the page
  std::string command;
  // "..." stands for any lines, none as well; "…" within a line for any text.
  std::vector<std::string> output;
  int exit_code = 0;
};

std::vector<Example> examples_in(const std::string& page);

// Puts `port` where the example has that of its --master-port, in the command and in the output:
// the page's own may be taken. Without --master-port nothing changes.
void use_port(const std::string& port, Example& example);

// Pure. Whether the lines are what the example shows.
bool shows(const std::vector<std::string>& pattern, const std::vector<std::string>& lines);

}  // namespace ddprun::test
