#include "worker_sdk/src/text.h"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <regex>
#include <sstream>
#include <string_view>

namespace ddp::detail {
namespace {

constexpr const char* kPairClosure = "Application timeout caused pair closure";

// Never destroyed: Gloo's threads explain their failures while the process ends.
const std::regex& for_ever(const char* pattern) {
  return *new std::regex(pattern);
}

bool mentions(const std::string& text, const char* word) {
  return text.find(word) != std::string::npos;
}

// "[../third_party/gloo/gloo/transport/tcp/pair.cc:553] Connection closed" -> "Connection closed".
std::string without_source(const std::string& what) {
  if (!what.starts_with("[") || !mentions(what.substr(0, what.find(']')), ".cc:")) return what;
  const auto begin = what.find_first_not_of(' ', what.find(']') + 1);
  return begin == std::string::npos ? what : what.substr(begin);
}

// The first sentence; a second one follows.
std::string what_happened(const std::string& what) {
  if (is_failed_barrier(what)) return "the ranks did not meet before it";
  if (mentions(what, kPairClosure)) {
    return "an operation of the group timed out, so that Gloo closed its connections and the group "
           "is of no use any more";
  }
  std::string text = without_source(what);
  if (text.ends_with('!')) text.pop_back();
  return text;
}

// "Rank 1", "Ranks 1, 3", "One of the ranks 1, 3", "Another rank".
std::string subject_of(const std::vector<int>& who, bool sure) {
  if (who.empty()) return "Another rank";
  if (who.size() == 1) return "Rank " + rank_list(who);
  return (sure ? "Ranks " : "One of the ranks ") + rank_list(who);
}

std::string why_late(bool one) {
  return one ? "hangs, is slower than the time-out, or calls other collectives"
             : "hang, are slower than the time-out, or call other collectives";
}

// "3 17" of "… Parameter indices which did not receive grad for rank 0: 3 17\n…".
std::string indices_in(const std::string& said) {
  const auto begin = said.find("indices which did not receive grad for rank ");
  const auto colon = said.find(':', begin);
  if (begin == said.npos || colon == said.npos) return "";
  return said.substr(colon + 1, said.find('\n', colon) - colon - 1);
}

// The names for "3 17"; the first ones, and how many there are.
std::string parameter_list(const std::string& indices,
                           const std::unordered_map<std::size_t, std::string>& names) {
  constexpr int kMost = 8;
  std::istringstream words(indices);
  std::string list;
  int count = 0;
  for (std::size_t index = 0; words >> index; ++count) {
    if (count >= kMost) continue;
    const auto name = names.find(index);
    list += (count > 0 ? ", " : "") +
            (name != names.end() ? name->second : "parameter " + std::to_string(index));
  }
  return count > kMost ? list + " and " + std::to_string(count - kMost) + " more" : list;
}

}  // namespace

std::string rank_list(const std::vector<int>& ranks) {
  if (ranks.empty()) return "none";
  std::string text;
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t last = i;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    if (i > 0) text += ", ";
    text += std::to_string(ranks[i]);
    if (last > i) text += (last == i + 1 ? ", " : "-") + std::to_string(ranks[last]);
    i = last + 1;
  }
  return text;
}

std::string seconds(std::chrono::milliseconds duration) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f s", static_cast<double>(duration.count()) / 1000);
  return text;
}

bool is_lost_peer(const std::string& what) {
  return mentions(what, "losed by peer") || mentions(what, "reset by peer") ||
         mentions(what, "roken pipe");
}

bool is_late_peer(const std::string& what) {
  return mentions(what, "imed out") || mentions(what, kPairClosure);
}

bool is_failed_barrier(const std::string& what) {
  return mentions(what, "monitoredBarrier");
}

std::vector<int> missing_at_barrier(const std::string& what) {
  constexpr std::string_view kBegin = "Ranks ", kEnd = " failed to pass monitoredBarrier";
  const auto end = what.find(kEnd);
  const auto begin = end == what.npos ? what.npos : what.rfind(kBegin, end);
  if (begin == what.npos || begin + kBegin.size() > end) return {};
  std::string list = what.substr(begin + kBegin.size(), end - begin - kBegin.size());
  if (list.find_first_not_of("0123456789, ") != list.npos) return {};
  std::replace(list.begin(), list.end(), ',', ' ');
  std::istringstream numbers(list);
  std::vector<int> members{std::istream_iterator<int>(numbers), {}};
  std::sort(members.begin(), members.end());
  return members;
}

bool waits_for_all(const std::string& operation) {
  static constexpr std::string_view kOthers[] = {"broadcast", "gather",  "recv",
                                                 "reduce",    "scatter", "send"};
  return std::ranges::find(kOthers, operation) == std::end(kOthers);
}

std::string who_is_late(const std::vector<int>& who, bool sure) {
  const bool one = who.size() < 2 || !sure;
  return subject_of(who, sure) + (one ? " does not take part: it " : " do not take part: they ") +
         why_late(one);
}

std::string explain_gloo(const std::string& what, const std::vector<int>& who, bool sure) {
  const std::string text = what_happened(what) + ". ";
  const bool one = who.size() < 2 || !sure;
  const std::string subject = subject_of(who, sure);
  if (is_failed_barrier(what)) {
    return text + subject +
           (one ? " did not come: it has ended, " : " did not come: they have ended, ") +
           why_late(one);
  }
  if (is_lost_peer(what)) {
    return text + subject + (one ? " has ended or lost its" : " have ended or lost their") +
           " connection: look at what " +
           (who.empty() ? "the ranks"
            : one       ? "it"
                        : "they") +
           " wrote before this line";
  }
  return is_late_peer(what) ? text + who_is_late(who, sure) : without_source(what);
}

std::string explain_unused(const std::string& said,
                           const std::unordered_map<std::size_t, std::string>& names,
                           bool looks_for_them) {
  // With a static graph something else is wrong, which the Reducer says.
  if (!said.starts_with("Expected to have finished reduction") || mentions(said, "static_graph"))
    return said;
  const std::string list = parameter_list(indices_in(said), names);
  if (list.empty()) return said;
  const std::string outputs = "every output of forward must take part in the loss";
  return "in the last backward no gradient came for " + list + ": " +
         (looks_for_them ? outputs
                         : "set find_unused_parameters if not all parameters take part in every "
                           "step; else " +
                               outputs);
}

std::string with_global_ranks(const std::string& text, const std::vector<int>& ranks) {
  static const std::regex& pattern = for_ever("\\bRank ([0-9]{1,7})\\b");
  std::string result;
  auto rest = text.begin();
  for (std::sregex_iterator found(text.begin(), text.end(), pattern), none; found != none;
       ++found) {
    const auto index = static_cast<std::size_t>(std::stoi((*found)[1]));
    result.append(rest, (*found)[1].first);
    result += index < ranks.size() ? std::to_string(ranks[index]) : (*found)[1].str();
    rest = (*found)[1].second;
  }
  return result.append(rest, text.end());
}

}  // namespace ddp::detail
