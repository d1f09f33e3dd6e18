// The examples of the manual: what stands in its ```console blocks.
#pragma once

#include <string>
#include <vector>

namespace ddprun::test {

// "$ COMMAND" or "HOST$ COMMAND", the lines of its output, "[exit code N]".
struct Example {
  int line = 0;              // of the command, in the page
  int block = 0;             // counted from 0
  std::string host = {};     // where it is typed; empty: on the reader's own machine
  std::string command = {};  // without the " &" of one that goes on while others are typed
  bool background = false;   // it had one
  // "..." stands for any lines, none as well; "…" within a line for any text.
  std::vector<std::string> output = {};
  int exit_code = 0;
};

std::vector<Example> examples_in(const std::string& page);

// The text of each block of that language, with its newlines, in order.
std::vector<std::string> blocks_of(const std::string& language, const std::string& page);

// Puts `port` where the example has that of its --master-port, in the command and in the output:
// the page's own may be taken. Without --master-port nothing changes.
void use_port(const std::string& port, Example& example);

// Pure. Whether the lines are what the example shows.
bool shows(const std::vector<std::string>& pattern, const std::vector<std::string>& lines);

}  // namespace ddprun::test
