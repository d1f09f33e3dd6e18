// The debugger that prints the stacks of a running process.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

namespace ddprun::stacks {

struct Tool {
  enum class Kind { none, gdb, eu_stack };
  Kind kind = Kind::none;
  std::string path;
};

// eu-stack (of elfutils), else gdb, searched in `search_path` (the text of PATH); none when neither
// is there.
Tool find_tool(std::string_view search_path);

// What to execute for one process: reads no start-up files and asks nobody.
std::vector<std::string> command(const Tool& tool, pid_t pid);

// Whether the tool printed at least one frame: without permission it prints only why.
bool has_frames(std::string_view text);

}  // namespace ddprun::stacks
