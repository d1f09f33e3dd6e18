#include "launcher/plan/line_buffer.h"

#include <unistd.h>

#include <string_view>

namespace ddprun::plan {
namespace {

bool is_ours(std::string_view name) {
  return name == "LD_PRELOAD" || name == "_STDBUF_O" || name == "PYTHONUNBUFFERED";
}

}  // namespace

std::string find_stdbuf_library(const std::vector<std::string>& places) {
  for (const std::string& place : places)
    if (::access(place.c_str(), R_OK) == 0) return place;
  return "";
}

cli::Environment line_buffered(const cli::Environment& parent, const std::string& library) {
  std::vector<std::string> entries;
  for (const std::string& entry : parent.entries())
    if (!is_ours(cli::variable_name(entry))) entries.push_back(entry);
  entries.emplace_back("PYTHONUNBUFFERED=1");
  const std::string before(parent.get("LD_PRELOAD").value_or(""));
  const std::string separator = before.empty() || library.empty() ? "" : ":";
  const std::string preload = before + separator + library;
  if (!preload.empty()) entries.push_back("LD_PRELOAD=" + preload);
  if (!library.empty()) entries.emplace_back("_STDBUF_O=L");
  return cli::Environment(std::move(entries));
}

}  // namespace ddprun::plan
