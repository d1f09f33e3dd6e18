// LibTorch 2.10 says on stdout that Gloo has connected the ranks; no test is about that.
#pragma once

#include <regex>
#include <string>

namespace ddprun::test {

inline std::string without_gloo_chatter(const std::string& text) {
  static const std::regex line("\\[Gloo\\] Rank [0-9]+ is connected to [^\\n]*\\n");
  if (text.find("[Gloo] Rank ") == std::string::npos) return text;  // megabytes, in some tests
  return std::regex_replace(text, line, "");
}

}  // namespace ddprun::test
