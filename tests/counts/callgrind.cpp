#include "tests/counts/callgrind.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <sstream>

namespace ddprun::counts {
namespace {

// The C library chooses among versions of its functions by what the CPU can do.
constexpr char kPlain[] =
    "env -i PATH=/usr/bin:/bin LC_ALL=C "
    "GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX2,-AVX512F,-AVX512VL,-AVX512BW,-ERMS,-FSRM,"
    "-AVX_Fast_Unaligned_Load,-SSE4_2,-SSSE3 timeout 60 valgrind --tool=callgrind ";

// As one word for the shell.
std::string quoted(const std::string& word) {
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

}  // namespace

bool has_valgrind() {
  return std::system("command -v valgrind >/dev/null 2>&1") == 0;
}

std::uint64_t collected(std::string_view output) {
  std::istringstream lines{std::string(output)};
  std::uint64_t sum = 0;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t at = line.find("Collected : ");
    if (line.starts_with("==") && at != std::string::npos)
      sum += std::strtoull(line.c_str() + at + 12, nullptr, 10);
  }
  return sum;
}

Result<std::uint64_t> instructions_of(const Count& count) {
  std::string line = kPlain + ("--callgrind-out-file=" + quoted(count.profile));
  if (!count.function.empty()) line += " --toggle-collect=" + quoted(count.function);
  for (const std::string& word : count.command) line += " " + quoted(word);
  FILE* pipe = ::popen((line + " 2>&1 </dev/null").c_str(), "r");
  if (pipe == nullptr) return Error{"no shell could be started"};
  std::string output;
  std::array<char, 4096> buffer{};
  while (const std::size_t size = std::fread(buffer.data(), 1, buffer.size(), pipe))
    output.append(buffer.data(), size);
  const int status = ::pclose(pipe);
  const std::uint64_t sum = collected(output);
  if (status != 0 || sum == 0)
    return Error{"nothing was counted (status " + std::to_string(status) + "); the output is\n" +
                 output};
  return sum;
}

}  // namespace ddprun::counts
