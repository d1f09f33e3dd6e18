// rdzvctl against a real rdzvd.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

#include "tests/integration/rdzvd/real_rdzvd.h"
#include "tests/integration/support/loopback_port.h"
#include "tests/integration/support/terminal.h"

namespace ddprun::test {
namespace {

using namespace protocol;
using server::join_of;
using server::RawAgent;
using testing::HasSubstr;
using testing::Not;

class Rdzvctl : public testing::Test {
 protected:
  std::vector<std::string> words(std::vector<std::string> behind) const {
    behind.insert(behind.begin(), {DDPRUN_RDZVCTL, "--endpoint", rdzvd_.address()});
    return behind;
  }
  Finished ctl(std::vector<std::string> behind) const { return run(words(std::move(behind))); }

  RealRdzvd rdzvd_;
};

TEST_F(Rdzvctl, ShowsTheRuns) {
  EXPECT_THAT(ctl({"status"}).out, HasSubstr("no runs"));
  RawAgent a(rdzvd_.port());
  a.say(join_of("exp", "node-a", 2));
  ASSERT_TRUE(a.await<Welcome>());
  const Finished waiting = ctl({"status", "exp"});
  EXPECT_EQ(waiting.code, 0) << waiting.err;
  EXPECT_THAT(waiting.out, HasSubstr("run exp: waiting for "));
  EXPECT_THAT(waiting.out, HasSubstr("1 of 2 nodes "));
  EXPECT_THAT(waiting.out, HasSubstr("node-a"));
  RawAgent b(rdzvd_.port());
  b.say(join_of("exp", "node-b", 2));
  ASSERT_TRUE(b.await<Assignment>());
  a.say(Started{.round = 0, .workers = {{11, "GPU 4"}, {12, "GPU 5"}}});
  const auto runs = boost::json::parse(ctl({"status", "--json"}).out);
  EXPECT_EQ(runs.at(0).at("state"), "running");
  EXPECT_THAT(ctl({"status"}).out, HasSubstr("GPU 4, GPU 5"));
  const Finished unknown = ctl({"status", "other"});
  EXPECT_EQ(unknown.code, 1);
  EXPECT_THAT(unknown.err, HasSubstr("there is no run other here"));
}

TEST(RdzvctlWords, SlipsArePutRight) {
  const auto error_of = [](std::vector<std::string> words) {
    words.insert(words.begin(), DDPRUN_RDZVCTL);
    const Finished end = run(words);
    EXPECT_EQ(end.code, 2);
    return end.err;
  };
  EXPECT_THAT(error_of({"stats"}), HasSubstr("did you mean status?"));
  EXPECT_THAT(error_of({"store", "list"}), HasSubstr("'store list' is no command"));
  EXPECT_THAT(error_of({"--port", "1", "status"}), HasSubstr("did you mean --endpoint?"));
  EXPECT_THAT(error_of({"--endpoint", "29400", "status"}),
              HasSubstr("'29400' has no host; write :29400"));
}

TEST(RdzvctlWords, WhereNobodyListensOtherPlacesAreNamed) {
  const Finished end = run({DDPRUN_RDZVCTL, "--endpoint", "127.255.255.254:29400", "status"});
  EXPECT_EQ(end.code, 1);
  EXPECT_THAT(end.err, HasSubstr("127.255.255.254:29400: Connection refused; is an rdzvd there? A "
                                 "job with --rdzv-backend static is at --endpoint HOST:29500"));
}

TEST_F(Rdzvctl, CancelsARun) {
  RawAgent a(rdzvd_.port());
  a.say(join_of("exp", "a", 1));
  ASSERT_TRUE(a.await<Assignment>());
  const Finished end = ctl({"cancel", "exp"});
  EXPECT_EQ(end.code, 0) << end.err;
  EXPECT_THAT(end.out, HasSubstr("run exp is cancelled"));
  const auto abort = a.await<Abort>();
  ASSERT_TRUE(abort);
  EXPECT_EQ(abort->cause.kind, Cause::Kind::cancelled);
  EXPECT_THAT(abort->why, HasSubstr("rdzvctl on "));
}

TEST_F(Rdzvctl, AsksEachNodeForItsStacks) {
  RawAgent a(rdzvd_.port());
  RawAgent b(rdzvd_.port());
  a.say(join_of("exp", "a", 2));
  b.say(join_of("exp", "b", 2));
  ASSERT_TRUE(a.await<Assignment>() && b.await<Assignment>());
  Program ctl(words({"stacks", "exp"}));
  const auto ask_a = a.await<TakeStacks>();
  const auto ask_b = b.await<TakeStacks>();
  ASSERT_TRUE(ask_a && ask_b);
  a.say(StacksDone{.id = ask_a->id, .path = "/tmp/stacks-a.txt"});
  b.say(StacksDone{.id = ask_b->id, .failed = "gdb is not installed"});
  const Finished end = ctl.finish();
  EXPECT_EQ(end.code, 1) << "one node has none";
  EXPECT_EQ(end.out, "a: /tmp/stacks-a.txt\n");
  EXPECT_EQ(end.err, "rdzvctl: b: no stacks: gdb is not installed\n");
}

TEST_F(Rdzvctl, LooksIntoTheStore) {
  EXPECT_EQ(ctl({"store", "set", "/b", "two words"}).code, 0);
  EXPECT_EQ(ctl({"store", "set", "/a", "1"}).code, 0);
  EXPECT_EQ(ctl({"store", "ls"}).out, "/a\n/b\n");
  EXPECT_EQ(ctl({"store", "get", "/b"}).out, "two words\n");
  EXPECT_EQ(ctl({"store", "delete", "/b"}).code, 0);
  EXPECT_EQ(ctl({"store", "get", "/b"}).code, 1);
  EXPECT_THAT(ctl({"store", "delete", "/b"}).err, HasSubstr("there is no key /b"));
}

// The 8-bit form of ESC [ as UTF-8, which JSON does not escape and some terminals obey.
constexpr const char* kControl = "\xc2\x9b";

TEST_F(Rdzvctl, NamesOfNodesCannotWriteIntoTheTerminal) {
  RawAgent a(rdzvd_.port());
  a.say(join_of("exp", std::string("a") + kControl + "2J", 2));
  ASSERT_TRUE(a.await<Welcome>());
  const Finished status = ctl({"status"});
  EXPECT_THAT(status.out, HasSubstr("a\\xc2\\x9b2J"));
  EXPECT_THAT(status.out, Not(HasSubstr(kControl)));
  RawAgent conflict(rdzvd_.port());
  conflict.say(join_of("exp", "b", 3));
  EXPECT_TRUE(conflict.await<Refused>());
  const Finished end = rdzvd_.stop();
  EXPECT_THAT(end.err, HasSubstr("node a\\xc2\\x9b2J says --nnodes 2"));
  EXPECT_THAT(end.err, Not(HasSubstr(kControl)));
}

TEST_F(Rdzvctl, KeysAndValuesAreRawForProgramsAndSafeForTerminals) {
  const std::string key = "k\x1b[2J";
  ASSERT_EQ(ctl({"store", "set", key, "one\x1b[2J\ntwo"}).code, 0);
  EXPECT_EQ(ctl({"store", "ls"}).out, key + "\n");
  EXPECT_EQ(ctl({"store", "get", key}).out, "one\x1b[2J\ntwo\n");
  const std::string store = std::string(DDPRUN_RDZVCTL) + " --endpoint " + rdzvd_.address();
  Terminal terminal(store + " store ls; " + store + " store get $'k\\e[2J'; " + store +
                    " status --json");
  EXPECT_EQ(terminal.finish(), 0);
  EXPECT_THAT(terminal.screen(), HasSubstr("k\\x1b[2J\r\none\\x1b[2J\r\ntwo\r\n"));
  EXPECT_THAT(terminal.screen(), Not(HasSubstr("\x1b[2J")));
}

TEST_F(Rdzvctl, WatchShowsAgainAndAgain) {
  Program watch(words({"watch"}));
  EXPECT_TRUE(watch.wait_for_output("no runs"));
  RawAgent a(rdzvd_.port());
  a.say(join_of("exp", "a", 2));
  ASSERT_TRUE(a.await<Welcome>());
  EXPECT_TRUE(watch.wait_for_output("run exp: waiting"));
}

TEST_F(Rdzvctl, TakesTheEndpointFromTheEnvironment) {
  const Finished end =
      run({DDPRUN_RDZVCTL, "status"}, {.environment = {"RDZV_ENDPOINT=" + rdzvd_.address()}});
  EXPECT_EQ(end.code, 0) << end.err;
}

TEST(RdzvctlMistakes, AreOneLineEach) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> mistakes{
      {{}, "a command is missing"},
      {{"dance"}, "'dance' is no command"},
      {{"cancel"}, "usage: rdzvctl cancel RUN"},
      {{"store", "set", "k"}, "usage: rdzvctl store set KEY VALUE"},
      {{"cancel", "r", "--json"}, "--json is for status only"},
      {{"--endpoint", "a:b", "status"}, "the endpoint: 'a:b'"},
      {{"--endpoint", "a:1,", "status"}, "the endpoint: 'a:1,' has nothing on one side of a comma"},
      {{"--endpoint", "a:1,,b:1", "status"}, "'a:1,,b:1' has nothing on"}};
  for (const auto& [words, text] : mistakes) {
    std::vector<std::string> all{DDPRUN_RDZVCTL};
    all.insert(all.end(), words.begin(), words.end());
    const Finished end = run(all);
    EXPECT_EQ(end.code, 2) << text;
    EXPECT_THAT(end.err, HasSubstr(text));
    EXPECT_EQ(lines(end.err).size(), 1u);
  }
}

TEST(RdzvctlMistakes, NobodyThereIsSaid) {
  const LoopbackPort nobody;
  const std::string where = "127.0.0.1:" + std::to_string(nobody.number());
  const Finished end = run({DDPRUN_RDZVCTL, "--endpoint", where, "status"});
  EXPECT_EQ(end.code, 1);
  EXPECT_THAT(end.err, HasSubstr(where));
  EXPECT_EQ(lines(end.err).size(), 1u);
}

}  // namespace
}  // namespace ddprun::test
