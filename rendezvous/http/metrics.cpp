#include "rendezvous/http/metrics.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

namespace ddprun::http {
namespace {

using roster::NodeSnapshot;
using roster::Snapshot;

using Labels = std::vector<std::pair<std::string_view, std::string_view>>;

std::string number_text(double number) {
  // Not std::to_chars, which would make every start of ddprun load the maths library.
  std::array<char, 32> text;
  const int length = std::snprintf(text.data(), text.size(), "%.15g", number);
  return {text.data(), static_cast<std::size_t>(length)};
}

double seconds(std::chrono::nanoseconds span) {
  return std::chrono::duration<double>(span).count();
}

class Text {
 public:
  // Begins a metric; its rows follow.
  void metric(std::string_view name, std::string_view type, std::string_view help) {
    name_ = name;
    text_.append("# HELP ").append(name).append(" ").append(help);
    text_.append("\n# TYPE ").append(name).append(" ").append(type).append("\n");
  }
  void row(double value, const Labels& labels = {}) {
    text_ += name_;
    for (const auto& [label, content] : labels) {
      text_ += &label == &labels.front().first ? "{" : ",";
      text_.append(label).append("=\"");
      quote(content);
      text_ += '"';
    }
    if (!labels.empty()) text_ += '}';
    text_ += " " + number_text(value) + "\n";
  }
  std::string take() { return std::move(text_); }

 private:
  void quote(std::string_view content) {
    for (const char c : content) {
      if (c == '\\' || c == '"') text_ += '\\';
      if (c == '\n')
        text_ += "\\n";
      else
        text_ += c;
    }
  }

  std::string text_;
  std::string_view name_;
};

void add_server(Text& text, const View& view) {
  text.metric("rdzv_info", "gauge", "Always 1; says who serves.");
  text.row(1, {{"host", view.host},
               {"version", view.version},
               {"server", view.embedded ? "ddprun" : "rdzvd"}});
  text.metric("rdzv_uptime_seconds", "gauge", "Since the server began to listen.");
  text.row(seconds(view.age));
}

void add_head(Text& text, const HeadFigures& now) {
  text.metric("rdzv_head", "gauge", "1 while this rdzvd is the head, 0 while it stands by.");
  text.row(now.is_head ? 1 : 0);
  text.metric("rdzv_head_terms_total", "counter", "Times that this rdzvd has become the head.");
  text.row(static_cast<double>(now.terms));
  text.metric(
      "rdzv_head_unwritten_seconds", "gauge",
      "How long the oldest decision has been waiting for etcd; nobody is told of it before.");
  text.row(seconds(now.unwritten));
}

void add_connections(Text& text, const Figures& now) {
  const auto count = [&](const char* name, const char* help, std::uint64_t value) {
    text.metric(name, "counter", help);
    text.row(static_cast<double>(value));
  };
  text.metric("rdzv_connections", "gauge",
              "Open connections; those that have not said what they speak count as store.");
  text.row(static_cast<double>(now.store_connections), {{"protocol", "store"}});
  text.row(static_cast<double>(now.roster_connections), {{"protocol", "roster"}});
  text.row(static_cast<double>(now.http_connections), {{"protocol", "http"}});
  count("rdzv_connections_accepted_total", "Accepted connections.", now.accepted);
  count("rdzv_strangers_total", "Connections closed because they spoke nothing that is served.",
        now.strangers);
  count("rdzv_turned_away_total", "Connections closed because there were too many.",
        now.turned_away);
  count("rdzv_accept_pauses_total", "Times that no descriptor was left for a connection.",
        now.accept_pauses);
  text.metric("rdzv_dropped_total", "counter",
              "Connections closed by the server: bad request, over a limit, not reading.");
  text.row(static_cast<double>(now.store_dropped), {{"protocol", "store"}});
  text.row(static_cast<double>(now.roster_dropped), {{"protocol", "roster"}});
  count("rdzv_over_address_limit_total", "Connections closed because one address had too many.",
        now.over_address_limit);
  text.metric("rdzv_addresses", "gauge", "Addresses that have connections now.");
  text.row(static_cast<double>(now.addresses));
  text.metric("rdzv_most_per_address", "gauge", "Connections of the address that has most now.");
  text.row(static_cast<double>(now.most_per_address));
  count("rdzv_tls_failed_total", "TLS handshakes that failed.", now.tls_failed);
  count("rdzv_tokens_refused_total", "Connections and requests that did not show the token.",
        now.tokens_refused);
  count("rdzv_refused_total", "Agents that were told why they cannot be members.", now.refused);
}

void add_work(Text& text, const Figures& now) {
  text.metric("rdzv_requests_total", "counter", "Requests and messages taken.");
  text.row(static_cast<double>(now.store_requests), {{"protocol", "store"}});
  text.row(static_cast<double>(now.roster_messages), {{"protocol", "roster"}});
  text.row(static_cast<double>(now.http_requests), {{"protocol", "http"}});
  text.metric("rdzv_memory_bytes", "gauge", "Held for clients, against the limit on memory.");
  text.row(static_cast<double>(now.store_memory_bytes), {{"protocol", "store"}});
  text.row(static_cast<double>(now.roster_memory_bytes), {{"protocol", "roster"}});
  text.metric("rdzv_store_keys", "gauge", "Keys of the common store.");
  text.row(static_cast<double>(now.store_keys));
  text.metric("rdzv_store_waiting", "gauge", "Store clients that wait for a key.");
  text.row(static_cast<double>(now.store_waiting));
}

template <class Value>
void add_for_each_run(Text& text, const View& view, const char* name, const char* help,
                      Value value) {
  text.metric(name, "gauge", help);
  for (const Snapshot& run : view.runs)
    text.row(static_cast<double>(value(run)), {{"run", run.run}});
}

void add_nodes(Text& text, const View& view) {
  text.metric("rdzv_run_nodes", "gauge", "Nodes of a run by their state.");
  for (const Snapshot& run : view.runs) {
    std::map<std::string_view, int> states;
    for (const NodeSnapshot& node : run.nodes) ++states[name(node.state)];
    for (const auto& [state, count] : states) text.row(count, {{"run", run.run}, {"state", state}});
  }
}

double longest_silence(const Snapshot& run) {
  std::chrono::nanoseconds longest{};
  for (const NodeSnapshot& node : run.nodes) longest = std::max(longest, node.heard_ago);
  return seconds(longest);
}

void add_runs(Text& text, const View& view) {
  text.metric("rdzv_runs", "gauge", "Runs by their state.");
  for (const auto state : {Snapshot::State::waiting, Snapshot::State::running,
                           Snapshot::State::stopping, Snapshot::State::resuming}) {
    const auto count = std::ranges::count(view.runs, state, &Snapshot::state);
    text.row(static_cast<double>(count), {{"state", name(state)}});
  }
  add_nodes(text, view);
  add_for_each_run(text, view, "rdzv_run_nodes_min", "Nodes that a run needs.",
                   [](const Snapshot& run) { return run.min_nodes; });
  add_for_each_run(text, view, "rdzv_run_nodes_max", "Nodes that a run can use.",
                   [](const Snapshot& run) { return run.max_nodes; });
  add_for_each_run(text, view, "rdzv_run_world_size", "Ranks of the present round; 0 without one.",
                   [](const Snapshot& run) { return run.world_size; });
  add_for_each_run(text, view, "rdzv_run_round", "Number of the round; -1 before the first.",
                   [](const Snapshot& run) { return run.round.value_or(-1); });
  add_for_each_run(text, view, "rdzv_run_restarts", "Restarts spent by failed workers.",
                   [](const Snapshot& run) { return run.restarts; });
  add_for_each_run(text, view, "rdzv_run_age_seconds", "Since the first node of the run came.",
                   [](const Snapshot& run) { return seconds(run.age); });
  add_for_each_run(text, view, "rdzv_run_state_seconds", "Since the state of the run began.",
                   [](const Snapshot& run) { return seconds(run.in_state); });
  add_for_each_run(text, view, "rdzv_run_silence_seconds",
                   "Of the node of the run that was heard of the longest ago.", longest_silence);
}

}  // namespace

std::string metrics(const View& view) {
  Text text;
  add_server(text, view);
  if (view.figures.head) add_head(text, *view.figures.head);
  add_connections(text, view.figures);
  add_work(text, view.figures);
  add_runs(text, view);
  return text.take();
}

}  // namespace ddprun::http
