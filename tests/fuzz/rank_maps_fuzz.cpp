// Any text as a set of ranks, as a map of ranks to streams and as --wrap: what is accepted means
// what a second, slower reader makes of it, and what is refused says why.
#include <charconv>
#include <cstdint>
#include <optional>

#include "launcher/cli/read_ranks.h"
#include "tests/fuzz/checks.h"

namespace {

using namespace ddprun;
using fuzz::require;

int number(std::string_view text) {
  int value = -1;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// Whether one item of a list, which is right, has `rank` in it.
bool has(std::string_view item, int rank) {
  if (item == "*") return true;
  const auto dash = item.find('-');
  if (dash == std::string_view::npos) return number(item) == rank;
  return number(item.substr(0, dash)) <= rank && rank <= number(item.substr(dash + 1));
}

bool list_has(std::string_view list, int rank) {
  return std::ranges::any_of(fuzz::split(list, ','), [&](auto item) { return has(item, rank); });
}

// The streams of `rank` as 0 to 3, by the rules in words: the last exact entry, else `*`.
int streams_of(std::string_view map, int rank) {
  int exact = -1, others = 0;
  for (const std::string_view entry : fuzz::split(map, ',')) {
    const auto colon = entry.find(':');
    if (colon == std::string_view::npos) return number(entry);
    const int streams = number(entry.substr(colon + 1));
    if (entry[0] == '*')
      others = streams;
    else if (has(entry.substr(0, colon), rank))
      exact = streams;
  }
  return exact >= 0 ? exact : others;
}

constexpr int kSome[] = {0, 1, 2, 3, 7, 8, 9, 10, 15, 63, 100, 4095, cli::kHighestRank};

void check_set(std::string_view text) {
  const auto set = cli::read_rank_set(text);
  if (!set) return require(!set.error().text.empty());
  for (const int rank : kSome) require(set->contains(rank) == list_has(text, rank));
  for (const cli::RankRange& range : set->ranges)
    require(range.first >= 0 && range.first <= range.last);
}

void check_map(std::string_view text) {
  const auto map = cli::read_stream_map(text);
  if (!map) return require(!map.error().text.empty());
  for (const int rank : kSome) {
    const cli::Streams streams = map->of(rank);
    require((streams.out ? 1 : 0) + (streams.err ? 2 : 0) == streams_of(text, rank));
    require(!streams.any() || map->any());
  }
}

void check_wrap(std::string_view text) {
  const auto wrap = cli::read_wrap(text);
  if (!wrap) return require(!wrap.error().text.empty());
  require(!wrap->words.empty());
  const std::string_view ranks = text.substr(0, text.find(':'));
  for (const int rank : kSome) require(wrap->ranks.contains(rank) == list_has(ranks, rank));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::view_of(data, size);
  check_set(text);
  check_map(text);
  check_wrap(text);
  return 0;
}
