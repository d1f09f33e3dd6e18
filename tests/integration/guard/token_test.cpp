// Jobs whose nodes and server share a token, and those who do not know it.
#include <gmock/gmock.h>
#include <signal.h>

#include "rendezvous/guard/handshake.h"
#include "tests/integration/guard/impostor.h"
#include "tests/integration/guard/secrets.h"
#include "tests/integration/multi_node/nodes.h"
#include "tests/integration/rdzvd/real_rdzvd.h"

namespace ddprun::test {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::Each;
using testing::HasSubstr;
using testing::Not;

const std::string kSecret = "the-secret-of-this-test-0123456789";
const std::string kOther = "another-secret-of-this-test-98765";

class TokenTest : public testing::Test {
 protected:
  Words with(const std::string& file) const { return {"--token-file", file}; }
  Words rdzvctl(const RealRdzvd& server, Words words) const {
    words.insert(words.begin(), {DDPRUN_RDZVCTL, "--endpoint", server.address()});
    return words;
  }
  // A node of a job of two that meets at `server`.
  std::unique_ptr<Program> node(const RealRdzvd& server, const Words& options, const Words& command,
                                RunOptions run = {}) const {
    Words words{"--nnodes",  "2",  "--rdzv-backend", "c10d", "--rdzv-endpoint", server.address(),
                "--rdzv-id", "job"};
    words.insert(words.end(), options.begin(), options.end());
    return start(words, command, std::move(run));
  }

  const Secrets secrets_;
  const std::string token_ = secrets_.file("token", kSecret);
  const std::string other_ = secrets_.file("other", kOther);
};

// ---- a job meets ----

TEST_F(TokenTest, NodesThatKnowItMeetAtADaemon) {
  const RealRdzvd server(with(token_));
  const auto a = node(server, with(token_), shell("echo rank $RANK of $WORLD_SIZE"));
  const auto b = node(server, {}, shell("echo rank $RANK of $WORLD_SIZE"),
                      {.environment = {"RDZV_TOKEN=" + kSecret}});
  for (const Finished& end : {a->finish(), b->finish()}) {
    EXPECT_EQ(end.code, 0) << end.err;
    EXPECT_THAT(end.out, HasSubstr(" of 2\n"));
  }
}

TEST_F(TokenTest, NodesThatKnowItMeetAtOneOfThem) {
  for (const bool fixed : {true, false}) {
    const FixedJob by_rank(2, with(token_));
    const ArrivalJob by_arrival("2", with(token_));
    const Words command = shell("echo rank $RANK");
    const auto a = fixed ? by_rank.node(0, command) : by_arrival.node(command);
    const auto b = fixed ? by_rank.node(1, command) : by_arrival.node(command);
    EXPECT_EQ(a->finish().code, 0) << fixed;
    EXPECT_EQ(b->finish().code, 0) << fixed;
  }
}

TEST_F(TokenTest, OneNodeNeedsNoToken) {
  const Finished end = ddprun({"-n", "1", "--", "true"}, {.environment = {"RDZV_TOKEN=short"}});
  EXPECT_EQ(end.code, 0);
  EXPECT_EQ(count_of("token", end.err), 0) << end.err;
}

// ---- others do not ----

TEST_F(TokenTest, ANodeWithAWrongOneEndsAtOnceAndDisturbsNobody) {
  const RealRdzvd server(with(token_));
  const auto here = node(server, with(token_), {"true"});
  const Finished wrong = node(server, with(other_), {"true"})->finish();
  EXPECT_EQ(wrong.code, 125);
  EXPECT_THAT(wrong.err, HasSubstr("ddprun: " + server.address() +
                                   ": the token that was given here is not this server's: give "
                                   "both the same one, with --token-file FILE or RDZV_TOKEN"));
  const Finished none = node(server, {}, {"true"})->finish();
  EXPECT_EQ(none.code, 125);
  EXPECT_THAT(none.err, HasSubstr("this server lets in only those who know its token"));
  EXPECT_EQ(node(server, with(token_), {"true"})->finish().code, 0);
  EXPECT_EQ(here->finish().code, 0);
}

TEST_F(TokenTest, AServerWithoutOneIsNoServerForANodeThatHasOne) {
  const RealRdzvd server;
  const Finished end = node(server, with(token_), {"true"})->finish();
  EXPECT_EQ(end.code, 125);
  EXPECT_THAT(end.err, HasSubstr("a token was given here, but this server has none"));
}

// Somebody who has taken the port, and does not know the token, learns nothing of the run, whatever
// he says.
TEST_F(TokenTest, AForeignServerIsToldNothing) {
  const auto is_challenge = [](const auto& said) {
    return std::holds_alternative<protocol::Challenge>(said);
  };
  const protocol::ServerMessage number = protocol::Challenge{guard::random_number()};
  const std::vector<std::pair<std::string, Impostor::Answers>> foreigners{
      {"says welcome at once", [](const auto&) { return protocol::Welcome{}; }},
      {"guesses the proof",
       [&](const auto& said) {
         return is_challenge(said) ? number : protocol::Answer{guard::random_number()};
       }},
      {"sends the proof back",
       [&](const auto& said) -> protocol::ServerMessage {
         const auto* answer = std::get_if<protocol::Answer>(&said);
         return answer == nullptr ? number : protocol::Answer{answer->proof};
       }},
      {"asks something else",
       [&](const auto& said) -> protocol::ServerMessage {
         return is_challenge(said) ? number : protocol::Ping{1};
       }},
      {"wants no token", [](const auto&) { return protocol::Refused{"give none"}; }}};
  for (const auto& [what, answers] : foreigners) {
    const Impostor foreign;
    const auto node = start({"--nnodes", "2", "--rdzv-backend", "c10d", "--rdzv-endpoint",
                             foreign.address(), "--rdzv-id", "job", "--token-file", token_},
                            {"true"});
    const Impostor::Told told = foreign.serve(answers);
    const Finished end = node->finish();
    EXPECT_EQ(end.code, 125) << what;
    EXPECT_THAT(end.err,
                AnyOf(HasSubstr("does not show that it knows the token"), HasSubstr("give none")))
        << what;
    EXPECT_THAT(told.messages, Each(AnyOf("challenge", "answer"))) << what;
    EXPECT_THAT(told.bytes,
                AllOf(HasSubstr("challenge"), Not(HasSubstr("job")), Not(HasSubstr(kSecret))))
        << what;
  }
}

TEST_F(TokenTest, RdzvctlAndPagesNeedIt) {
  const RealRdzvd server(with(token_));
  EXPECT_EQ(run(rdzvctl(server, {"status", "--token-file", token_})).code, 0);
  EXPECT_EQ(run(rdzvctl(server, {"status"}), {.environment = {"RDZV_TOKEN=" + kSecret}}).code, 0);
  for (const Words& question : {Words{"status"}, Words{"cancel", "r"}, Words{"stacks", "r"},
                                Words{"status", "--token-file", other_}}) {
    const Finished end = run(rdzvctl(server, question));
    EXPECT_EQ(end.code, 1) << question[0];
    EXPECT_THAT(end.err, HasSubstr("rdzvctl: " + server.address() + ": th")) << question[0];
    EXPECT_THAT(end.err, AnyOf(HasSubstr("this server lets in only those who know its token"),
                               HasSubstr("the token that was given here is not this server's")));
  }
  EXPECT_THAT(get_page(server.port(), "/"), HasSubstr("HTTP/1.1 401 "));
  EXPECT_THAT(get_page(server.port(), "/metrics"), HasSubstr("HTTP/1.1 401 "));
  EXPECT_THAT(get_page(server.port(), "/healthz"), HasSubstr("HTTP/1.1 200 "));
}

TEST_F(TokenTest, TheCommonStoreOfRdzvdIsClosed) {
  RealRdzvd server(with(token_));
  const Finished end = run(rdzvctl(server, {"store", "ls", "--token-file", token_}));
  EXPECT_EQ(end.code, 1);
  EXPECT_THAT(server.stop().err, HasSubstr("it speaks the c10d store protocol; the roster"));
  const Finished both =
      run({DDPRUN_RDZVD, "--listen", "127.0.0.1:0", "--store", "on", "--token-file", token_});
  EXPECT_EQ(both.code, 2);
  EXPECT_THAT(both.err, HasSubstr("rdzvd: --store on: its clients can neither show a token"));
}

// ---- the secret stays one ----

TEST_F(TokenTest, WorkersDoNotGetIt) {
  const RealRdzvd server(with(token_));
  const std::string look =
      "env; tr '\\0' '\\n' </proc/self/environ; tr '\\0' ' ' </proc/$PPID/environ";
  const RunOptions run{.environment = {"RDZV_TOKEN=" + kSecret}};
  const auto a = node(server, {}, shell(look), run);
  const auto b = node(server, {}, shell(look), run);
  for (const Finished& end : {a->finish(), b->finish()}) {
    EXPECT_EQ(end.code, 0) << end.err;
    EXPECT_THAT(end.out, AllOf(HasSubstr("WORLD_SIZE=2"), Not(HasSubstr(kSecret))));
  }
}

TEST_F(TokenTest, NobodyFindsItInAnyProcess) {
  const RunOptions run{.environment = {"RDZV_TOKEN=" + kSecret}};
  RealRdzvd server({}, run);
  const auto a = node(server, {}, shell("echo up; sleep 60"), run);
  const auto b = node(server, {}, shell("echo up; sleep 60"), run);
  ASSERT_TRUE(a->wait_for_output("up") && b->wait_for_output("up"));
  for (const pid_t pid : {server.program().pid(), a->pid(), launcher_of(*a)})
    for (const char* what : {"/environ", "/cmdline"}) {
      const auto text = read_file("/proc/" + std::to_string(pid) + what);
      ASSERT_TRUE(text);
      EXPECT_THAT(*text, Not(HasSubstr(kSecret))) << pid << what;
    }
}

TEST_F(TokenTest, NobodyWritesIt) {
  RealRdzvd server({"--token-file", token_, "--log-level", "debug"});
  const std::string report = secrets_.folder() / "report.json";
  const std::string events = secrets_.folder() / "events.jsonl";
  const RunOptions run{.environment = {"RDZV_TOKEN=" + kSecret}};
  const Words options{
      "-v", "--report", report, "--events", events, "--log-dir", secrets_.folder() / "logs"};
  const auto a = node(server, options, shell("exit 3"), run);
  const auto b = node(server, with(token_), shell("sleep 60"));
  std::string all;
  for (const Finished& end :
       {a->finish(), b->finish(), server.stop(),
        ddprun({"--dry-run", "--nnodes", "2", "--node-rank", "0", "--master-addr", "127.0.0.1",
                "--", "true"},
               run),
        ddprun({"--token", kSecret, "--", "true"}), ddprun({"--token=" + kSecret, "--", "true"}),
        test::run({DDPRUN_RDZVD, "--token", kSecret}),
        test::run({DDPRUN_RDZVD, "--token=" + kSecret}),
        test::run({DDPRUN_RDZVCTL, "--token", kSecret, "status"}),
        test::run({DDPRUN_RDZVCTL, "--token=" + kSecret, "status"})})
    all += end.out + end.err;
  all += read_file(report).value_or("") + read_file(events).value_or("");
  all += run_shell("cat $(find " + std::string(secrets_.folder() / "logs") + " -type f) /dev/null")
             .out;
  EXPECT_EQ(count_of("--token: a command line can be read by everybody", all), 6) << all;
  EXPECT_EQ(count_of("that of RDZV_TOKEN", all), 1) << all;
  EXPECT_THAT(all, HasSubstr("exit code 3"));
  EXPECT_THAT(all, Not(HasSubstr(kSecret)));
}

TEST_F(TokenTest, AFileThatOthersMayReadIsRefused) {
  const std::string open = secrets_.file("open", kSecret, 0644);
  const auto refused = [&](const Finished& end) {
    EXPECT_EQ(end.code, 2);
    EXPECT_THAT(end.err, HasSubstr("the token file " + open + " has mode 0644"));
    EXPECT_THAT(end.err, HasSubstr("chmod 600 " + open));
    EXPECT_EQ(lines(end.err).size(), 1u) << end.err;
  };
  refused(run({DDPRUN_RDZVD, "--listen", "127.0.0.1:0", "--token-file", open}));
  refused(run({DDPRUN_RDZVCTL, "--token-file", open, "status"}));
  refused(ddprun({"--nnodes", "2", "--node-rank", "0", "--master-addr", "127.0.0.1", "--token-file",
                  open, "--", "true"}));
}

// ---- a daemon's life ----

TEST_F(TokenTest, SighupReadsTheFileAgain) {
  RealRdzvd server(with(token_));
  secrets_.file("token", kOther);
  ::kill(server.program().pid(), SIGHUP);
  ASSERT_TRUE(server.program().wait_for_error("read " + token_ + " again"));
  EXPECT_EQ(run(rdzvctl(server, {"status", "--token-file", other_})).code, 0);
  EXPECT_EQ(run(rdzvctl(server, {"status"}), {.environment = {"RDZV_TOKEN=" + kSecret}}).code, 1);
  secrets_.file("token", kSecret, 0644);
  ::kill(server.program().pid(), SIGHUP);
  ASSERT_TRUE(server.program().wait_for_error("the old token stays: the token file"));
  EXPECT_EQ(run(rdzvctl(server, {"status", "--token-file", other_})).code, 0);
}

}  // namespace
}  // namespace ddprun::test
