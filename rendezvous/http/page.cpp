#include "rendezvous/http/page.h"

#include <algorithm>
#include <string_view>

#include "rendezvous/base/span_text.h"
#include "rendezvous/http/html.h"
#include "rendezvous/roster/wording.h"

namespace ddprun::http {
namespace {

using roster::NodeSnapshot;
using roster::Snapshot;

constexpr std::size_t kNodesShown = 256;
constexpr std::size_t kWorkersShown = 16;

void add_style(Html& html) {
  html.markup(R"(<style>
:root { color-scheme: light dark; --line: #d0d4d9; --soft: #5c6570; --card: #fff; --page: #f4f5f7;
  --text: #1b1f24; --good: #1a7f37; --busy: #9a6700; --bad: #c62828; }
@media (prefers-color-scheme: dark) {
  :root { --line: #343b43; --soft: #9aa4ae; --card: #1a1f24; --page: #101316; --text: #e6e9ec;
    --good: #4ac26b; --busy: #d4a72c; --bad: #ff7b72; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1rem; max-width: 72rem; background: var(--page);
  color: var(--text); font: 16px/1.45 system-ui, sans-serif; }
h1 { margin: 0; font-size: 1.3rem; }
h2 { margin: 0; font-size: 1.1rem; overflow-wrap: anywhere; }
p { margin: .3rem 0; }
a { color: inherit; }
.soft { color: var(--soft); }
.run { margin-top: 1rem; padding: .8rem 1rem; background: var(--card);
  border: 1px solid var(--line); border-radius: .5rem; }
.state { padding: 0 .5rem; border: 1px solid currentColor; border-radius: 1rem;
  font-size: .85rem; font-weight: 600; white-space: nowrap; }
.running, .working, .finished { color: var(--good); }
.waiting, .resuming, .stopping, .spare { color: var(--busy); }
.away, .failure { color: var(--bad); }
.failure pre { color: var(--text); }
.wide { overflow-x: auto; }
table { width: 100%; border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .6rem .25rem 0; border-top: 1px solid var(--line); text-align: left;
  vertical-align: top; white-space: nowrap; }
td.workers { white-space: normal; min-width: 10rem; }
th { color: var(--soft); font-weight: 600; font-size: .85rem; }
pre { margin: .3rem 0; padding: .5rem; overflow-x: auto; border: 1px solid var(--line);
  border-radius: .3rem; font-size: .85rem; }
</style>
)");
}

void add_head(Html& html, const View& view) {
  html.markup(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta http-equiv=\"refresh\" content=\"5\">\n<title>");
  html.text(view.embedded ? "ddprun" : "rdzvd").markup(" on ").text(view.host);
  html.markup("</title>\n");
  add_style(html);
  html.markup("</head>\n<body>\n");
}

void add_header(Html& html, const View& view) {
  html.markup("<header>\n<h1>").text(view.embedded ? "ddprun" : "rdzvd").markup(" on ");
  html.text(view.host).markup("</h1>\n<p class=\"soft\">version ").text(view.version);
  html.markup(", serving for ").text(span_text(view.age)).markup(", ");
  html.text(roster::count_text(view.runs_in_all, "run")).markup(", ");
  html.text(roster::count_text(view.figures.roster_connections, "agent"));
  html.markup(
      " connected. <a href=\"/api/v1/runs\">JSON</a>, <a href=\"/metrics\">metrics</a></p>\n"
      "</header>\n");
}

void add_state(Html& html, std::string_view state) {
  html.markup("<span class=\"state ").text(state).markup("\">").text(state).markup("</span>");
}

std::string ranks_of(const NodeSnapshot& node) {
  if (!node.first_rank) return "";
  const int last = *node.first_rank + node.nproc - 1;
  const std::string first = std::to_string(*node.first_rank);
  return node.nproc == 1 ? first : first + "–" + std::to_string(last);
}

void add_workers(Html& html, const NodeSnapshot& node) {
  if (node.workers.empty()) return void(html.text(roster::count_text(node.nproc, "worker")));
  const std::size_t shown = std::min(node.workers.size(), kWorkersShown);
  for (std::size_t i = 0; i < shown; ++i) {
    const protocol::Started::Worker& worker = node.workers[i];
    html.text(i == 0 ? "" : ", ").text(worker.device);
    html.markup(" <span class=\"soft\">(").text(std::to_string(worker.pid)).markup(")</span>");
  }
  if (shown < node.workers.size())
    html.text(" and " + std::to_string(node.workers.size() - shown) + " more");
}

void add_node(Html& html, const NodeSnapshot& node) {
  html.markup("<tr><td>").text(node.node_rank ? std::to_string(*node.node_rank) : "");
  html.markup("</td><td>").text(node.node).markup("</td><td>");
  add_state(html, name(node.state));
  html.markup("</td><td>").text(ranks_of(node)).markup("</td><td class=\"workers\">");
  add_workers(html, node);
  html.markup("</td><td>").text(node.address).markup("</td><td>");
  html.text(node.state == NodeSnapshot::State::away ? "" : span_text(node.heard_ago) + " ago");
  html.markup("</td></tr>\n");
}

void add_nodes(Html& html, const Snapshot& run) {
  html.markup(
      "<div class=\"wide\"><table>\n<tr><th>node rank</th><th>node</th><th>state</th>"
      "<th>ranks</th><th>devices (pid)</th><th>address</th><th>last heartbeat</th></tr>\n");
  const std::size_t shown = std::min(run.nodes.size(), kNodesShown);
  for (std::size_t i = 0; i < shown; ++i) add_node(html, run.nodes[i]);
  html.markup("</table></div>\n");
  if (shown == run.nodes.size()) return;
  html.markup("<p class=\"soft\">and ").text(std::to_string(run.nodes.size() - shown));
  html.markup(" more nodes, all of them in the <a href=\"/api/v1/runs/").url_segment(run.run);
  html.markup("\">JSON</a></p>\n");
}

void add_failure(Html& html, const Snapshot& run, bool with_lines) {
  if (!run.last_failure) return;
  html.markup("<div class=\"failure\">\n<p>last failure: ").text(run.last_failure->text);
  html.markup("</p>\n");
  if (with_lines && !run.last_failure->lines.empty()) {
    html.markup("<pre>");
    for (const std::string& line : run.last_failure->lines) html.text(line).markup("\n");
    html.markup("</pre>\n");
  }
  html.markup("</div>\n");
}

std::string nodes_wanted(const Snapshot& run) {
  const std::string most = std::to_string(run.max_nodes);
  return run.min_nodes == run.max_nodes ? most : std::to_string(run.min_nodes) + " to " + most;
}

void add_run(Html& html, const Snapshot& run, bool with_lines) {
  html.markup("<section class=\"run\">\n<h2>run ").text(run.run).markup(" ");
  add_state(html, name(run.state));
  html.markup("</h2>\n<p class=\"soft\">");
  html.text("for " + span_text(run.in_state) + ", of " + nodes_wanted(run) + " nodes");
  if (run.world_size > 0) html.text(", world size " + std::to_string(run.world_size));
  if (run.round) html.text(", round " + std::to_string(*run.round));
  html.text(", " + std::to_string(run.restarts) + " of " +
            roster::count_text(static_cast<std::size_t>(run.max_restarts), "restart") + " spent");
  if (!run.store.empty()) html.text(", store " + run.store);
  html.text(", began " + span_text(run.age) + " ago").markup("</p>\n");
  if (!run.missing.empty()) html.markup("<p class=\"waiting\">").text(run.missing).markup("</p>\n");
  add_failure(html, run, with_lines);
  add_nodes(html, run);
  html.markup("</section>\n");
}

}  // namespace

std::string status_page(const View& view) {
  Html html;
  add_head(html, view);
  add_header(html, view);
  html.markup("<main>\n");
  if (view.runs.empty()) html.markup("<p>no runs: nobody has joined, or all have ended</p>\n");
  const std::size_t shown = std::min(view.runs.size(), kRunsShown);
  for (std::size_t i = 0; i < shown; ++i) add_run(html, view.runs[i], view.with_lines);
  if (shown < view.runs_in_all) {
    html.markup("<p class=\"soft\">and ").text(std::to_string(view.runs_in_all - shown));
    html.markup(" more runs, all of them in the <a href=\"/api/v1/runs\">JSON</a></p>\n");
  }
  html.markup("</main>\n</body>\n</html>\n");
  return html.take();
}

}  // namespace ddprun::http
