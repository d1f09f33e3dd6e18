// The status page of a real rdzvd, as a browser shows it to a user while nodes come and go.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <deque>
#include <optional>

#include "tests/integration/multi_node/nodes.h"
#include "tests/integration/page/browser.h"
#include "tests/integration/rdzvd/real_rdzvd.h"

namespace ddprun::test {
namespace {

using namespace protocol;
using server::join_of;
using server::RawAgent;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;
using testing::StartsWith;

class StatusPage : public testing::Test {
 protected:
  void SetUp() override {
    if (!Browser::is_installed())
      GTEST_SKIP() << "needs Chromium: apt-get install --no-install-recommends chromium";
    browser_.emplace();
  }

  void look() { browser_->open("http://" + rdzvd_.address() + "/"); }
  // What stands on the page, without what does not show.
  std::string text() { return browser_->text_of("document.body.innerText"); }
  std::string heading() { return browser_->text_of("document.querySelector('h2').innerText"); }
  // The rows of the table of nodes, cells with bars between.
  std::vector<std::string> rows() {
    return lines(
        browser_->text_of("[...document.querySelectorAll('tbody tr')]"
                          ".map(row => [...row.cells].map(cell => cell.innerText)"
                          ".join(' | ')).join('\\n')"));
  }
  // A node with a given node rank of run r, which has 4.
  RawAgent& join(int rank, const std::string& name) {
    Join join = join_of("r", name, 4);
    join.static_ranks = true;
    join.node_rank = rank;
    join.max_restarts = 1;
    RawAgent& agent = agents_.emplace_back(rdzvd_.port());
    agent.say(join);
    EXPECT_TRUE(agent.await<Welcome>());
    return agent;
  }

  RealRdzvd rdzvd_;
  std::deque<RawAgent> agents_;
  std::optional<Browser> browser_;
};

TEST_F(StatusPage, ShowsRealNodesAndRefreshesItself) {
  look();
  EXPECT_THAT(text(), HasSubstr("no runs"));
  const Words options{"-n",
                      "2",
                      "--nnodes",
                      "2",
                      "--rdzv-backend",
                      "c10d",
                      "--rdzv-endpoint",
                      rdzvd_.address(),
                      "--rdzv-id",
                      "exp 7"};
  const Words command = shell("echo up $$; exec sleep 60");
  const auto first = start(options, command);
  ASSERT_TRUE(first->wait_for_error("1 of 2 nodes"));
  look();
  EXPECT_EQ(heading(), "run exp 7 waiting");
  EXPECT_THAT(text(), MatchesRegex(".*1 of 2 nodes are here \\([^)]+\\), 1 node is missing.*"));
  EXPECT_THAT(rows(), ElementsAre(MatchesRegex(" \\| [^|]+ \\| waiting \\|  \\| 2 workers .*")));
  const auto second = start(options, command);
  ASSERT_TRUE(first->wait_for_output("up") && second->wait_for_output("up"));
  look();
  EXPECT_EQ(heading(), "run exp 7 running");
  EXPECT_THAT(text(), HasSubstr("world size 4"));
  EXPECT_THAT(text(), Not(HasSubstr("missing")));
  EXPECT_THAT(rows(),
              ElementsAre(MatchesRegex("0 \\| .* \\| working \\| 0–1 \\| 2 × CPU pids [0-9].*"),
                          MatchesRegex("1 \\| .* \\| working \\| 2–3 \\| 2 × CPU pids [0-9].*")));
  ::kill(first->pid(), SIGTERM);
  first->finish();
  second->finish();
  // It may have been loaded before they ended, and that is told only now.
  for (int loads = 0; loads < 4 && text().find("no runs") == std::string::npos; ++loads)
    browser_->await_load();
  EXPECT_THAT(text(), HasSubstr("no runs"));
}

TEST_F(StatusPage, SaysWhoIsMissingWhoIsBackAndWhatFailedLast) {
  join(2, "gpu03");
  join(0, "gpu01");
  look();
  EXPECT_THAT(text(),
              HasSubstr("2 of 4 nodes are here (gpu01, gpu03), node ranks 1, 3 are missing"));
  EXPECT_THAT(rows(), ElementsAre(StartsWith("0 | gpu01 | waiting |  | 2 workers | 127.0.0.1:"),
                                  StartsWith("2 | gpu03 | waiting |  | 2 workers | 127.0.0.1:")));
  join(1, "gpu02");
  RawAgent& last = join(3, "gpu04");
  for (RawAgent& each : agents_) {
    ASSERT_TRUE(each.await<Assignment>());
    each.say(Started{.round = 0, .workers = {{901, "GPU 4"}, {902, "GPU 6"}}});
  }
  last.say(Failed{.round = 0, .rank = 6, .local_rank = 0, .code = 7, .lines = {"boom", "<b>"}});
  for (RawAgent& each : agents_) ASSERT_TRUE(each.await<Stop>());
  look();
  EXPECT_EQ(heading(), "run r stopping");
  const std::string middle = " | stopping | 4–5 | GPU 4, 6 pids 901–902 | ";
  EXPECT_THAT(rows().at(2), StartsWith("2 | gpu03" + middle));
  for (RawAgent& each : agents_) each.say(Drained{.round = 0, .store_port = 29'501});
  for (RawAgent& each : agents_) ASSERT_TRUE(each.await<Assignment>());
  last.close();
  ASSERT_TRUE(agents_.front().await<Restart>());
  for (RawAgent& each : agents_) each.say(Drained{.round = 1, .store_port = 29'501});
  ASSERT_TRUE(agents_.front().await<Waiting>());
  look();
  EXPECT_THAT(text(), HasSubstr("node rank 3 is missing"));
  EXPECT_THAT(text(), HasSubstr("restarts spent 1 of 1"));
  EXPECT_THAT(text(), HasSubstr("last failure: "));
  EXPECT_EQ(rows().size(), 3u);
}

// The least contrast of a text with what is behind it, by the formula of WCAG 2, which wants 4.5.
constexpr const char* kLeastContrast = R"(
  const numbers = color => color.match(/[\d.]+/g).map(Number);
  const light = color => numbers(color).slice(0, 3)
      .map(c => c / 255).map(c => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
      .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = element => {
    const color = getComputedStyle(element).backgroundColor;
    return numbers(color)[3] === 0 && element.parentElement ? behind(element.parentElement) : color;
  };
  const contrast = element => {
    const both = [light(getComputedStyle(element).color), light(behind(element))];
    return (Math.max(...both) + 0.05) / (Math.min(...both) + 0.05);
  };
  Math.min(...[...document.body.querySelectorAll('*')]
      .filter(element => [...element.childNodes].some(node => node.nodeType === 3))
      .map(contrast)))";

TEST_F(StatusPage, IsDarkWhereTheUserWantsItDark) {
  join(0, "gpu01");
  const auto in_scope = [](const std::string& script) { return "{" + script + "}"; };
  const std::string background = "getComputedStyle(document.body).backgroundColor";
  browser_->prefer_color_scheme("light");
  look();
  const std::string light = browser_->text_of(background);
  EXPECT_GE(browser_->evaluate(in_scope(kLeastContrast)).to_number<double>(), 4.5);
  browser_->prefer_color_scheme("dark");
  look();
  EXPECT_EQ(light, "rgb(244, 245, 247)");
  EXPECT_EQ(browser_->text_of(background), "rgb(16, 19, 22)");
  EXPECT_GE(browser_->evaluate(in_scope(kLeastContrast)).to_number<double>(), 4.5);
}

TEST_F(StatusPage, FitsAPhoneAndADeskWithFiveHundredRanksAndLongNames) {
  constexpr int kNodes = 64;
  const std::string run(200, 'r');
  for (int i = 0; i < kNodes; ++i) {
    Join join = join_of(run, std::string(110, 'n') + std::to_string(i), kNodes);
    join.nproc = 8;
    agents_.emplace_back(rdzvd_.port()).say(join);
  }
  Started started{.round = 0};
  for (int gpu = 0; gpu < 8; ++gpu)
    started.workers.push_back({1'000'000 + 2 * gpu, "GPU " + std::to_string(gpu)});
  for (RawAgent& each : agents_) {
    ASSERT_TRUE(each.await<Assignment>());
    each.say(started);
  }
  agents_.back().say(protocol::Finished{.round = 0});
  for (const int width : {360, 1200}) {
    browser_->resize(width, 800);
    look();
    EXPECT_EQ(browser_->evaluate("document.documentElement.scrollWidth"), width);
    // Nothing hides behind the edge of its box either.
    EXPECT_EQ(browser_->evaluate("[...document.querySelectorAll('*')].filter(element => "
                                 "element.scrollWidth > element.clientWidth + 1 && "
                                 "getComputedStyle(element).display !== 'inline').length"),
              0)
        << width;
    const std::vector<std::string> nodes = rows();
    ASSERT_EQ(nodes.size(), static_cast<std::size_t>(kNodes));
    EXPECT_THAT(nodes.at(63), HasSubstr(" | finished | 504–511 | GPU 0–7 pids 1000000, 1000002"));
  }
}

TEST_F(StatusPage, LinksToEachOfManyRuns) {
  for (int i = 0; i < 6; ++i) {
    agents_.emplace_back(rdzvd_.port()).say(join_of("my run/" + std::to_string(i), "a", 2));
    ASSERT_TRUE(agents_.back().await<Welcome>());
  }
  look();
  EXPECT_EQ(browser_->text_of("[...document.querySelectorAll('nav li')]"
                              ".map(item => item.innerText).join()"),
            "my run/0 waiting,my run/1 waiting,my run/2 waiting,my run/3 waiting,"
            "my run/4 waiting,my run/5 waiting");
  EXPECT_EQ(browser_->text_of("document.querySelectorAll('nav a')[5].click(), "
                              "document.querySelector(':target h2').innerText"),
            "run my run/5 waiting");
}

}  // namespace
}  // namespace ddprun::test
