#include "rendezvous/roster/wording.h"

#include <algorithm>
#include <cstring>

#include "rendezvous/base/span_text.h"

namespace ddprun::roster {
namespace {

std::string nodes_wanted(const Gathering& gathering) {
  const std::string max = std::to_string(gathering.max_nodes);
  if (gathering.min_nodes == gathering.max_nodes) return max;
  return std::to_string(gathering.min_nodes) + " to " + max;
}

std::string missing(const Gathering& gathering) {
  if (!gathering.missing_ranks.empty())
    return rank_text(gathering.missing_ranks) +
           (gathering.missing_ranks.size() == 1 ? " is missing" : " are missing");
  if (gathering.here.size() >= gathering.min_nodes) return "";
  const std::size_t count = gathering.min_nodes - gathering.here.size();
  return count_text(count, "node") + (count == 1 ? " is missing" : " are missing");
}

}  // namespace

std::string list_text(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kListed); ++i) {
    if (i > 0) text += ", ";
    text += names[i];
  }
  if (names.size() > kListed) text += " and " + std::to_string(names.size() - kListed) + " more";
  return text;
}

std::string rank_text(const std::vector<int>& ranks, const std::string& noun) {
  std::vector<std::string> spans;
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t last = i;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    spans.push_back(std::to_string(ranks[i]));
    if (last > i) spans.back() += "-" + std::to_string(ranks[last]);
    i = last + 1;
  }
  return noun + (ranks.size() == 1 ? " " : "s ") + list_text(spans);
}

std::string count_text(std::size_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

std::string ending_text(std::optional<int> code, std::optional<int> signal) {
  if (code) return "exit code " + std::to_string(*code);
  if (!signal) return "an unknown end";
  const char* name = sigabbrev_np(*signal);
  return name == nullptr ? "signal " + std::to_string(*signal) : std::string("SIG") + name;
}

std::string failure_text(const protocol::Failed& failed) {
  const std::string how = failed.how.value_or(ending_text(failed.code, failed.signal));
  if (failed.absent.empty()) return how;
  return how + "; " + rank_text(failed.absent, "rank") + " did not take part";
}

std::string who_is_missing(const Gathering& gathering) {
  const std::size_t here = gathering.here.size();
  std::string text = std::to_string(here) + " of " + nodes_wanted(gathering) +
                     (gathering.max_nodes == 1 ? " node is here" : " nodes are here");
  if (here > 0) text += " (" + list_text(gathering.here) + ")";
  const std::string rest = missing(gathering);
  if (!rest.empty()) text += ", " + rest;
  if (!gathering.draining.empty())
    text += "; still stopping workers: " + list_text(gathering.draining);
  return text;
}

std::string waiting_text(const Gathering& gathering) {
  std::string text = "run " + gathering.run + ": " + who_is_missing(gathering) + "; waited " +
                     span_text(gathering.waited);
  if (gathering.last_call)
    text += ", the round begins in " + span_text(*gathering.last_call) +
            " or when all are here (last_call_timeout)";
  else if (gathering.until_over)
    text += ", gives up in " + span_text(*gathering.until_over) + " (join_timeout)";
  return text;
}

}  // namespace ddprun::roster
