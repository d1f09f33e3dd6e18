#include "rendezvous/rdzvctl/status_text.h"

#include <algorithm>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <chrono>
#include <string_view>
#include <vector>

#include "rendezvous/base/printable.h"
#include "rendezvous/base/span_text.h"
#include "rendezvous/roster/wording.h"

namespace ddprun::rdzvctl {
namespace {

namespace json = boost::json;
using Row = std::vector<std::string>;

const json::value& member(const json::value& object, std::string_view name) {
  static const json::value none;
  const json::object* fields = object.if_object();
  const json::value* found = fields == nullptr ? nullptr : fields->if_contains(name);
  return found == nullptr ? none : *found;
}

std::string text(const json::value& value) {
  if (value.is_null()) return "-";
  // It comes from nodes, and goes to a terminal.
  if (const json::string* string = value.if_string()) return printable(*string);
  return printable(json::serialize(value));
}

std::string span(const json::value& seconds) {
  if (!seconds.is_number()) return "-";
  return span_text(std::chrono::duration_cast<std::chrono::nanoseconds>(
      std::chrono::duration<double>(seconds.to_number<double>())));
}

std::string ranks(const json::value& node) {
  const json::value& first = member(node, "first_rank");
  const json::value& nproc = member(node, "nproc");
  if (!first.is_int64() || !nproc.is_int64()) return "-";
  const std::int64_t last = first.get_int64() + nproc.get_int64() - 1;
  return last == first.get_int64() ? text(first) : text(first) + "-" + std::to_string(last);
}

std::string devices(const json::value& node) {
  const json::array* workers = member(node, "workers").if_array();
  if (workers == nullptr || workers->empty()) return "-";
  std::string result;
  for (const json::value& worker : *workers)
    result += (result.empty() ? "" : ", ") + text(member(worker, "device"));
  return result;
}

void append_table(std::string& out, const std::vector<Row>& rows) {
  std::vector<std::size_t> widths(rows.front().size());
  for (const Row& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  for (const Row& row : rows) {
    out += "  ";
    for (std::size_t i = 0; i < row.size(); ++i) {
      out += row[i];
      if (i + 1 < row.size()) out.append(widths[i] - row[i].size() + 2, ' ');
    }
    out += "\n";
  }
}

void append_failure(std::string& out, const json::value& failure) {
  if (!failure.is_object()) return;
  out += "  last failure: " + text(member(failure, "text")) + "\n";
  const json::array* lines = member(failure, "lines").if_array();
  if (lines == nullptr) return;
  for (const json::value& line : *lines) out += "    | " + text(line) + "\n";
}

void append_run(std::string& out, const json::value& run) {
  const std::string least = text(member(run, "min_nodes"));
  const std::string most = text(member(run, "max_nodes"));
  out += "run " + text(member(run, "id")) + ": " + text(member(run, "state")) + " for " +
         span(member(run, "in_state")) + ", of " + (least == most ? most : least + " to " + most) +
         " nodes, world size " + text(member(run, "world_size")) + ", round " +
         text(member(run, "round")) + ", " + text(member(run, "restarts")) + " of " +
         text(member(run, "max_restarts")) + " restarts spent\n";
  const std::string missing = text(member(run, "missing"));
  if (!missing.empty() && missing != "-") out += "  " + missing + "\n";
  append_failure(out, member(run, "last_failure"));
  const json::array* nodes = member(run, "nodes").if_array();
  if (nodes == nullptr || nodes->empty()) return;
  std::vector<Row> rows{{"NODE RANK", "NODE", "STATE", "RANKS", "HEARD", "ADDRESS", "DEVICES"}};
  for (const json::value& node : *nodes) {
    rows.push_back({text(member(node, "node_rank")), text(member(node, "node")),
                    text(member(node, "state")), ranks(node),
                    span(member(node, "heard_ago")) + " ago", text(member(node, "address")),
                    devices(node)});
  }
  append_table(out, rows);
}

}  // namespace

std::string status_text(const json::value& runs) {
  const json::array* all = runs.if_array();
  if (all == nullptr || all->empty()) return "no runs: nobody has joined, or all have ended\n";
  std::string out;
  for (const json::value& run : *all) append_run(out, run);
  return out;
}

}  // namespace ddprun::rdzvctl
