#include "launcher/cli/read_ranks.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>

#include "launcher/cli/shell_words.h"

namespace ddprun::cli {
namespace {

std::string quoted(std::string_view text) {
  return "'" + std::string(text) + "'";
}

std::optional<int> read_rank(std::string_view text) {
  int rank = 0;
  if (text.starts_with('-')) return std::nullopt;  // "-0" is a slip as well
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), rank);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  if (rank > kHighestRank) return std::nullopt;
  return rank;
}

Result<RankRange> read_range(std::string_view text) {
  if (text == "*") return kEveryRank;
  const auto dash = text.find('-', 1);
  const auto first = read_rank(text.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : read_rank(text.substr(dash + 1));
  if (!first || !last || *last < *first)
    return Error{quoted(text) + " is not a rank, a range such as 0-7, or *"};
  return RankRange{*first, *last};
}

// Cuts the part before the next comma off `rest`. False at the end; a comma at the end of a list is
// followed by an empty item.
bool next_item(std::string_view& rest, bool& done, std::string_view& item) {
  if (done) return false;
  item = rest.substr(0, rest.find(','));
  done = item.size() == rest.size();
  rest.remove_prefix(std::min(rest.size(), item.size() + 1));
  return true;
}

std::optional<Streams> read_streams(std::string_view text) {
  if (text.size() != 1 || text[0] < '0' || text[0] > '3') return std::nullopt;
  const int bits = text[0] - '0';
  return Streams{(bits & 1) != 0, (bits & 2) != 0};
}

}  // namespace

Result<RankSet> read_rank_set(std::string_view text) {
  RankSet ranks;
  std::string_view rest = text, item;
  for (bool done = false; next_item(rest, done, item);) {
    const Result<RankRange> range = read_range(item);
    if (!range) {
      const std::string where = item == text ? "" : quoted(text) + ": ";
      return Error{where + range.error().text + "; write a list such as 0,2,4-7"};
    }
    ranks.ranges.push_back(*range);
  }
  return ranks;
}

Result<StreamMap> read_stream_map(std::string_view text) {
  const Error wrong{quoted(text) +
                    " does not say which streams; write 0 (none), 1 (stdout), 2 (stderr) or 3 "
                    "(both), or a map of local ranks such as 0-7:3,*:1"};
  StreamMap map;
  if (text.find(':') == std::string_view::npos) {
    const auto streams = read_streams(text);
    if (!streams) return wrong;
    map.others = *streams;
    return map;
  }
  std::string_view rest = text, item;
  for (bool done = false; next_item(rest, done, item);) {
    const auto colon = std::min(item.find(':'), item.size());
    const Result<RankRange> range = read_range(item.substr(0, colon));
    const auto streams = read_streams(item.substr(std::min(item.size(), colon + 1)));
    if (!range || !streams) return wrong;
    if (item.starts_with('*'))
      map.others = *streams;
    else
      map.ranges.emplace_back(*range, *streams);
  }
  return map;
}

Result<Wrap> read_wrap(std::string_view text) {
  const auto colon = text.find(':');
  if (colon == std::string_view::npos)
    return Error{quoted(text) + " has no ranks; write RANKS:COMMAND, 0:gdb --args for example"};
  Result<RankSet> ranks = read_rank_set(text.substr(0, colon));
  if (!ranks)
    return Error{ranks.error().text + " before the first colon, then the command: 0:gdb --args"};
  Result<std::vector<std::string>> words = split_words(text.substr(colon + 1));
  if (!words) return Error{quoted(text) + ": " + words.error().text + "; write RANKS:COMMAND"};
  if (words->empty())
    return Error{quoted(text) + " has no command; write RANKS:COMMAND, 0:gdb --args for example"};
  return Wrap{std::move(*ranks), std::move(*words)};
}

}  // namespace ddprun::cli
