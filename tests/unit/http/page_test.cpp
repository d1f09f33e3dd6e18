// The status page: what a person reads on it, and what cannot get into it.
#include "rendezvous/http/page.h"

#include <gmock/gmock.h>

#include <regex>

#include "tests/unit/http/tag_check.h"
#include "tests/unit/http/views.h"

namespace ddprun::http {
namespace {

using testing::HasSubstr;
using testing::Not;

// What is left of a page without its tags, with single blanks.
std::string words(const std::string& html) {
  std::string text = html.substr(html.find("</style>"));
  text = std::regex_replace(text, std::regex("<[^>]*>"), " ");
  return std::regex_replace(text, std::regex("\\s+"), " ");
}

TEST(Page, ShowsARunWithItsNodesRanksAndDevices) {
  const std::string page = status_page(view({run("exp-7")}));
  EXPECT_EQ(html_fault(page), "");
  const std::string text = words(page);
  EXPECT_THAT(text, HasSubstr("rdzvd on hub version 0.1.0, serving for 60 min, 1 run"));
  EXPECT_THAT(text, HasSubstr("run exp-7 running for 30 s nodes wanted 2 to 4 world size 4 round 3 "
                              "restarts spent 1 of 5 store 10.0.0.2:29500 began 90 s ago"));
  EXPECT_THAT(text, HasSubstr("0 alpha working 0–1 GPU 4, 6 pids 901–902 10.0.0.2:4711"));
  EXPECT_THAT(text, HasSubstr("1 beta working 2–3 "));
  EXPECT_THAT(text, HasSubstr("1.5 s ago"));
}

TEST(Page, SaysWhoIsMissingAndWhatFailedLast) {
  Snapshot waiting = run("r");
  waiting.state = Snapshot::State::waiting;
  waiting.missing = "1 of 2 nodes are here (alpha), node rank 1 is missing";
  waiting.last_failure = roster::Cause{.text = "rank 3 on beta ended with exit code 1",
                                       .lines = {"Traceback <most recent>", "boom"}};
  View shown = view({waiting});
  EXPECT_THAT(words(status_page(shown)), HasSubstr(waiting.missing));
  EXPECT_THAT(words(status_page(shown)),
              HasSubstr("last failure: rank 3 on beta ended with exit code 1"));
  EXPECT_THAT(status_page(shown), Not(HasSubstr("boom"))) << "output is for those who may see it";
  shown.with_lines = true;
  EXPECT_THAT(status_page(shown), HasSubstr("<pre>Traceback &lt;most recent&gt;\nboom\n</pre>"));
  EXPECT_EQ(html_fault(status_page(shown)), "");
}

TEST(Page, NothingThatANodeSaysBecomesMarkup) {
  const std::string evil = "\"><script>alert('x')</script><b a=\"&\x01";
  Snapshot bad = run(evil);
  bad.missing = bad.store = evil;
  bad.last_failure = roster::Cause{.text = evil, .lines = {evil}};
  bad.nodes[0].node = bad.nodes[0].address = bad.nodes[0].workers[0].device = evil;
  for (int i = 0; i < 300; ++i) bad.nodes.push_back(bad.nodes[0]);
  View shown = view({bad});
  shown.with_lines = true;
  shown.host = shown.version = evil;
  const std::string page = status_page(shown);
  EXPECT_EQ(html_fault(page), "");
  EXPECT_THAT(page, Not(HasSubstr("<script")));
  EXPECT_THAT(page, Not(HasSubstr("\x01")));
}

TEST(Page, WorksWithoutScriptsOnAPhoneAndInTheDark) {
  const std::string page = status_page(view({}));
  EXPECT_EQ(html_fault(page), "");
  EXPECT_THAT(page, HasSubstr("<meta http-equiv=\"refresh\" content=\"5\">"));
  EXPECT_THAT(page, HasSubstr("<meta name=\"viewport\" content=\"width=device-width"));
  EXPECT_THAT(page, HasSubstr("prefers-color-scheme: dark"));
  EXPECT_THAT(page, Not(HasSubstr("src="))) << "nothing else is loaded";
  EXPECT_THAT(words(page), HasSubstr("no runs"));
}

TEST(Page, ManyRunsAndNodesAreCountedNotListed) {
  Snapshot large = run("large");
  for (int i = 2; i < 4096; ++i) large.nodes.push_back(node(i, "n" + std::to_string(i)));
  std::vector<Snapshot> runs(1000, run("small"));
  runs[0] = large;
  const std::string page = status_page(view(runs));
  EXPECT_EQ(html_fault(page), "");
  EXPECT_LT(page.size(), std::size_t{1} << 20);
  EXPECT_THAT(words(page), HasSubstr("and 3840 more nodes"));
  EXPECT_THAT(words(page), HasSubstr("and 900 more runs"));
}

}  // namespace
}  // namespace ddprun::http
