#include "rendezvous/http/page.h"

#include <algorithm>
#include <string_view>

#include "rendezvous/base/span_text.h"
#include "rendezvous/http/html.h"
#include "rendezvous/http/style.h"
#include "rendezvous/http/worker_texts.h"
#include "rendezvous/roster/wording.h"

namespace ddprun::http {
namespace {

using roster::NodeSnapshot;
using roster::Snapshot;

constexpr std::size_t kNodesShown = 256;
constexpr std::size_t kOverviewFrom = 4;  // runs

void add_head(Html& html, const View& view) {
  html.markup(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta http-equiv=\"refresh\" content=\"5\">\n<title>");
  html.text(view.embedded ? "ddprun" : "rdzvd").markup(" on ").text(view.host);
  html.markup("</title>\n");
  html.markup(kStyle).markup("</head>\n<body>\n");
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
  html.text(devices_text(node.workers)).markup(" <small>");
  html.text(node.workers.size() == 1 ? "pid " : "pids ").text(pids_text(node.workers));
  html.markup("</small>");
}

void add_node(Html& html, const NodeSnapshot& node) {
  html.markup("<tr><td data-is=\"node\">");
  html.text(node.node_rank ? std::to_string(*node.node_rank) : "");
  html.markup("</td><td class=\"free\">").text(node.node).markup("</td><td>");
  add_state(html, name(node.state));
  html.markup("</td><td data-is=\"ranks\">").text(ranks_of(node));
  html.markup("</td><td class=\"free\">");
  add_workers(html, node);
  html.markup("</td><td data-is=\"address\">").text(node.address);
  html.markup("</td><td data-is=\"heard\">");
  html.text(node.state == NodeSnapshot::State::away ? "" : span_text(node.heard_ago) + " ago");
  html.markup("</td></tr>\n");
}

void add_nodes(Html& html, const Snapshot& run) {
  html.markup(
      "<div class=\"wide\"><table>\n<thead><tr><th>node rank</th><th>node</th><th>state</th>"
      "<th>ranks</th><th>devices</th><th>address</th><th>last heartbeat</th></tr></thead>\n"
      "<tbody>\n");
  const std::size_t shown = std::min(run.nodes.size(), kNodesShown);
  for (std::size_t i = 0; i < shown; ++i) add_node(html, run.nodes[i]);
  html.markup("</tbody>\n</table></div>\n");
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

void add_fact(Html& html, std::string_view name, std::string_view value) {
  html.markup("<li><small>").text(name).markup("</small> ").text(value).markup("</li>\n");
}

void add_facts(Html& html, const Snapshot& run) {
  html.markup("<ul>\n");
  add_fact(html, "for", span_text(run.in_state));
  add_fact(html, "nodes wanted", nodes_wanted(run));
  if (run.world_size > 0) add_fact(html, "world size", std::to_string(run.world_size));
  if (run.round) add_fact(html, "round", std::to_string(*run.round));
  add_fact(html, "restarts spent",
           std::to_string(run.restarts) + " of " + std::to_string(run.max_restarts));
  if (!run.store.empty()) add_fact(html, "store", run.store);
  add_fact(html, "began", span_text(run.age) + " ago");
  html.markup("</ul>\n");
}

void add_run(Html& html, const Snapshot& run, bool with_lines) {
  html.markup("<section class=\"run\" id=\"").url_segment(run.run).markup("\">\n<h2>run ");
  html.text(run.run).markup(" ");
  add_state(html, name(run.state));
  html.markup("</h2>\n");
  add_facts(html, run);
  if (!run.missing.empty()) html.markup("<p class=\"waiting\">").text(run.missing).markup("</p>\n");
  add_failure(html, run, with_lines);
  add_nodes(html, run);
  html.markup("</section>\n");
}

// With many runs: one line for each, to look for one and to jump to it.
void add_overview(Html& html, const View& view) {
  const std::size_t shown = std::min(view.runs.size(), kRunsShown);
  if (shown < kOverviewFrom) return;
  html.markup("<nav class=\"run\"><ul>\n");
  for (std::size_t i = 0; i < shown; ++i) {
    html.markup("<li><a href=\"#").url_segment(view.runs[i].run).markup("\">");
    html.text(view.runs[i].run).markup("</a> ");
    add_state(html, name(view.runs[i].state));
    html.markup("</li>\n");
  }
  html.markup("</ul></nav>\n");
}

}  // namespace

std::string status_page(const View& view) {
  Html html;
  add_head(html, view);
  add_header(html, view);
  add_overview(html, view);
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
