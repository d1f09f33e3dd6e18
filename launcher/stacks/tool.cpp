#include "launcher/stacks/tool.h"

#include "launcher/process/program.h"

namespace ddprun::stacks {

Tool find_tool(std::string_view search_path) {
  // gdb reads all symbols first: of a process with LibTorch in 7 s, where eu-stack takes 0.1 s.
  if (auto quick = process::find_program("eu-stack", search_path); quick.error == 0)
    return {Tool::Kind::eu_stack, std::move(quick.path)};
  if (auto gdb = process::find_program("gdb", search_path); gdb.error == 0)
    return {Tool::Kind::gdb, std::move(gdb.path)};
  return {};
}

std::vector<std::string> command(const Tool& tool, pid_t pid) {
  const std::string id = std::to_string(pid);
  if (tool.kind == Tool::Kind::eu_stack) return {tool.path, "-p", id};
  return {tool.path,
          "-nx",
          "-batch",
          "-iex",
          "set debuginfod enabled off",
          "-p",
          id,
          "-ex",
          "thread apply all bt"};
}

bool has_frames(std::string_view text) {
  return text.find("\n#0 ") != text.npos || text.starts_with("#0 ");
}

}  // namespace ddprun::stacks
