// Any words as the command lines of rdzvd and rdzvctl: nothing throws, and a refusal is one line.
// The input is lines, each of them a word; rdzvctl also takes the first one as RDZV_ENDPOINT.
#include <cstdint>

#include "rendezvous/rdzvctl/options.h"
#include "rendezvous/rdzvd/options.h"
#include "tests/fuzz/checks.h"

namespace {

using namespace ddprun;
using fuzz::require;

void check_daemon(const std::vector<std::string>& words) {
  const auto options = rdzvd::parse_options(words);
  if (!options) return require(fuzz::is_one_line(options.error().text));
  require(options->help || options->version || options->handshake_timeout.count() > 0);
}

void check_control(const std::vector<std::string>& words, const std::string& endpoint) {
  const auto options = rdzvctl::parse_options(words, endpoint);
  if (!options) return require(fuzz::is_one_line(options.error().text));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<std::string> words;
  for (const std::string_view line : fuzz::split(fuzz::view_of(data, size), '\n')) {
    words.emplace_back(line);
    std::ranges::replace(words.back(), '\x1f', '\n');
    std::erase(words.back(), '\0');
  }
  check_daemon(words);
  const std::string endpoint = words.front();
  check_control(words, endpoint);
  words.erase(words.begin());
  check_control(words, endpoint);
  return 0;
}
