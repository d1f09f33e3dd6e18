// The metrics, read back by the rules of Prometheus.
#include "rendezvous/http/metrics.h"

#include <gmock/gmock.h>

#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "tests/unit/http/views.h"

namespace ddprun::http {
namespace {

// Rows by name and labels. Fails the test for what a Prometheus server would not take: a row
// without HELP and TYPE before it, a metric that comes twice, a row twice, no number.
std::map<std::string, std::string> read(const std::string& text) {
  std::map<std::string, std::string> rows;
  std::set<std::string> helped, typed;
  std::string current;
  std::istringstream lines(text);
  const std::regex row(R"re((\w+)(\{\w+="(?:[^"\\]|\\.)*"(?:,\w+="(?:[^"\\]|\\.)*")*\})? (\S+))re");
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (line.starts_with("# HELP ")) {
      current = line.substr(7, line.find(' ', 7) - 7);
      EXPECT_TRUE(helped.insert(current).second) << line;
    } else if (line.starts_with("# TYPE ")) {
      const bool known = line.ends_with(" gauge") || line.ends_with(" counter");
      EXPECT_TRUE(known && line.starts_with("# TYPE " + current + " ")) << line;
      EXPECT_EQ(line.ends_with(" counter"), current.ends_with("_total")) << line;
      typed.insert(current);
    } else if (std::regex_match(line, match, row)) {
      EXPECT_EQ(match[1], current) << line;
      EXPECT_TRUE(typed.contains(current)) << line;
      EXPECT_TRUE(rows.emplace(match[1].str() + match[2].str(), match[3]).second) << line;
    } else {
      ADD_FAILURE() << "no row: " << line;
    }
  }
  return rows;
}

TEST(Metrics, TellOfServerAndRuns) {
  View shown = view({run("r1"), run("r2")});
  shown.runs[1].state = Snapshot::State::waiting;
  shown.runs[1].round.reset();
  shown.runs[1].nodes[1].heard_ago = 12s;
  shown.figures = {.store_connections = 7, .accepted = 12'345'678, .refused = 3, .store_keys = 9};
  auto rows = read(metrics(shown));
  EXPECT_EQ(rows["rdzv_info{host=\"hub\",version=\"0.1.0\",server=\"rdzvd\"}"], "1");
  EXPECT_EQ(rows["rdzv_uptime_seconds"], "3600");
  EXPECT_EQ(rows["rdzv_connections{protocol=\"store\"}"], "7");
  EXPECT_EQ(rows["rdzv_connections_accepted_total"], "12345678");
  EXPECT_EQ(rows["rdzv_refused_total"], "3");
  EXPECT_EQ(rows["rdzv_store_keys"], "9");
  EXPECT_EQ(rows["rdzv_runs{state=\"running\"}"], "1");
  EXPECT_EQ(rows["rdzv_runs{state=\"waiting\"}"], "1");
  EXPECT_EQ(rows["rdzv_runs{state=\"stopping\"}"], "0");
  EXPECT_EQ(rows["rdzv_run_nodes{run=\"r1\",state=\"working\"}"], "2");
  EXPECT_EQ(rows["rdzv_run_round{run=\"r1\"}"], "3");
  EXPECT_EQ(rows["rdzv_run_round{run=\"r2\"}"], "-1");
  EXPECT_EQ(rows["rdzv_run_restarts{run=\"r1\"}"], "1");
  EXPECT_EQ(rows["rdzv_run_world_size{run=\"r1\"}"], "4");
  EXPECT_EQ(rows["rdzv_run_silence_seconds{run=\"r1\"}"], "1.5");
  EXPECT_EQ(rows["rdzv_run_silence_seconds{run=\"r2\"}"], "12");
}

TEST(Metrics, TellOfTheHeadWhereThereAreSeveral) {
  View shown = view({});
  EXPECT_FALSE(read(metrics(shown)).contains("rdzv_head"));
  shown.figures.head = {.is_head = true, .terms = 3, .unwritten = 1500ms};
  auto rows = read(metrics(shown));
  EXPECT_EQ(rows["rdzv_head"], "1");
  EXPECT_EQ(rows["rdzv_head_terms_total"], "3");
  EXPECT_EQ(rows["rdzv_head_unwritten_seconds"], "1.5");
  shown.figures.head->is_head = false;
  EXPECT_EQ(read(metrics(shown))["rdzv_head"], "0");
}

TEST(Metrics, NamesOfRunsAreQuoted) {
  auto rows = read(metrics(view({run("a\"} 1\nevil{x=\"\\")})));
  EXPECT_EQ(rows[R"(rdzv_run_restarts{run="a\"} 1\nevil{x=\"\\"})"], "1");
  EXPECT_FALSE(rows.contains("evil"));
}

TEST(Metrics, WithoutRunsTheyAreValidToo) {
  EXPECT_EQ(read(metrics(view({})))["rdzv_runs{state=\"running\"}"], "0");
}

}  // namespace
}  // namespace ddprun::http
