// Jobs whose nodes, server and store speak TLS.
#include <gmock/gmock.h>
#include <signal.h>

#include "tests/integration/guard/secrets.h"
#include "tests/integration/multi_node/nodes.h"
#include "tests/integration/rdzvd/real_rdzvd.h"
#include "tests/support/certificates.h"

namespace ddprun::test {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::string kHere = "DNS:localhost,IP:127.0.0.1";

class TlsJob : public testing::Test {
 protected:
  void SetUp() override { certificates_.make("server", kHere); }

  Words serving(const std::string& name = "server") const {
    return {"--tls-cert", certificates_.cert(name), "--tls-key", certificates_.key(name)};
  }
  Words trusting() const { return {"--tls-ca", certificates_.ca()}; }
  static Words both(Words one, const Words& other) {
    one.insert(one.end(), other.begin(), other.end());
    return one;
  }
  std::unique_ptr<Program> node(const std::string& endpoint, const Words& options,
                                const Words& command) const {
    Words words{"--nnodes",        "2",      "--rdzv-backend", "c10d",
                "--rdzv-endpoint", endpoint, "--rdzv-id",      "job"};
    return start(both(words, options), command);
  }
  Finished rdzvctl(const RealRdzvd& server, const Words& options) const {
    return run(both({DDPRUN_RDZVCTL, "--endpoint", server.address(), "status"}, options));
  }

  const Certificates certificates_;
};

// Ranks 0 and 1 set a key and wait for the other's, in the store of the job.
const Words kMeet = shell("echo master $MASTER_ADDR; exec " DDPRUN_TEST_STORE_MEETING
                          " \"$MASTER_ADDR\" \"$MASTER_PORT\" \"$RANK\" 2");

TEST_F(TlsJob, MeetsAtADaemonAndInAStoreBehindProxies) {
  const RealRdzvd server(serving());
  const auto a = node(server.address(), trusting(), kMeet);
  const auto b = node(server.address(), trusting(), kMeet);
  for (const Finished& end : {a->finish(), b->finish()}) {
    EXPECT_EQ(end.code, 0) << end.err;
    EXPECT_THAT(end.out, HasSubstr("master 127.0.0.1\n"));
    EXPECT_THAT(end.out, HasSubstr("met 2\n"));
  }
}

TEST_F(TlsJob, MeetsAtANodeOfItsOwn) {
  for (const bool fixed : {true, false}) {
    const Words options = both(serving(), trusting());
    const FixedJob by_rank(2, options);
    const ArrivalJob by_arrival("2", options);
    const auto a = fixed ? by_rank.node(0, kMeet) : by_arrival.node(kMeet);
    const auto b = fixed ? by_rank.node(1, kMeet) : by_arrival.node(kMeet);
    for (const Finished& end : {a->finish(), b->finish()}) {
      EXPECT_EQ(end.code, 0) << fixed << end.err;
      EXPECT_THAT(end.out, HasSubstr("met 2\n")) << fixed;
    }
  }
}

// Those of hosts mostly are; the node is a client of its own server as well.
TEST_F(TlsJob, ANodeMayHostWithACertificateForServersAlone) {
  certificates_.make("host", kHere + " -addext extendedKeyUsage=serverAuth");
  const FixedJob job(2, both(serving("host"), trusting()));
  const auto a = job.node(0, kMeet);
  const auto b = job.node(1, kMeet);
  for (const Finished& end : {a->finish(), b->finish()}) {
    EXPECT_EQ(end.code, 0) << end.err;
    EXPECT_THAT(end.out, HasSubstr("met 2\n"));
  }
}

TEST_F(TlsJob, BeginsAnotherRound) {
  const RealRdzvd server(serving());
  const Words options = both(trusting(), {"--max-restarts", "1", "--restart-backoff", "0"});
  const Words command = shell("[ $TORCHELASTIC_RESTART_COUNT = 1 ] || exit 3; exec " +
                              kMeet.back().substr(kMeet.back().find("exec ") + 5));
  const auto a = node(server.address(), options, command);
  const auto b = node(server.address(), options, command);
  EXPECT_THAT(a->finish().out, HasSubstr("met 2\n"));
  EXPECT_THAT(b->finish().out, HasSubstr("met 2\n"));
}

TEST_F(TlsJob, TokensAndTlsGoTogether) {
  const Secrets secrets;
  const Words token{"--token-file", secrets.file("token", "a-token-of-many-letters")};
  const RealRdzvd server(both(serving(), token));
  const auto a = node(server.address(), both(trusting(), token), kMeet);
  const auto b = node(server.address(), both(trusting(), token), kMeet);
  EXPECT_EQ(a->finish().code, 0);
  EXPECT_EQ(b->finish().code, 0);
  EXPECT_EQ(rdzvctl(server, both(trusting(), token)).code, 0);
  EXPECT_THAT(rdzvctl(server, trusting()).err, HasSubstr("only those who know its token"));
}

// ---- who is not let in ----

TEST_F(TlsJob, AClientWithoutTlsIsToldWhatIsNeeded) {
  const RealRdzvd server(serving());
  const Finished end = node(server.address(), {}, {"true"})->finish();
  EXPECT_EQ(end.code, 125);
  EXPECT_THAT(end.err, HasSubstr("this server speaks TLS only: give --tls-ca FILE"));
  EXPECT_THAT(rdzvctl(server, {}).err, HasSubstr("this server speaks TLS only"));
  EXPECT_THAT(get_page(server.port(), "/"), HasSubstr("HTTP/1.1 403 "));
  EXPECT_THAT(get_page(server.port(), "/"), HasSubstr("https://"));
  EXPECT_THAT(get_page(server.port(), "/healthz"), HasSubstr("HTTP/1.1 200 "));
  server::RawClient store(server.port());
  EXPECT_TRUE(store.is_closed());
}

TEST_F(TlsJob, AServerWithoutTlsIsNoServerForAClientWithIt) {
  const RealRdzvd server;
  const Finished end = node(server.address(), trusting(), {"true"})->finish();
  EXPECT_EQ(end.code, 125);
  EXPECT_THAT(end.err, HasSubstr(server.address() + ": TLS: "));
  EXPECT_THAT(end.err, HasSubstr("the other side does not speak TLS"));
  EXPECT_THAT(rdzvctl(server, trusting()).err, HasSubstr("the other side does not speak TLS"));
}

TEST_F(TlsJob, WrongCertificatesEndANodeAtOnceWithAReason) {
  certificates_.make_expired("expired", kHere);
  certificates_.make("elsewhere", "DNS:head");
  certificates_.make_alone("alone", kHere);
  for (const auto& [name, reason] :
       {std::pair{"expired", "certificate has expired; make a new one"},
        std::pair{"elsewhere", "the server's certificate is not for 127.0.0.1"},
        std::pair{"alone", "self-signed certificate; give its own certificate"}}) {
    RealRdzvd server(serving(name));
    const Finished end = node(server.address(), trusting(), {"true"})->finish();
    EXPECT_EQ(end.code, 125) << name;
    EXPECT_THAT(end.err, HasSubstr(reason));
    EXPECT_THAT(rdzvctl(server, trusting()).err, HasSubstr(reason));
    EXPECT_THAT(server.stop().err, HasSubstr("closed the connection of 127.0.0.1:")) << name;
  }
}

TEST_F(TlsJob, AServerWithACaWantsCertificates) {
  certificates_.make("node", "DNS:node");
  const RealRdzvd server(both(serving(), trusting()));
  const Words shown = both(trusting(), serving("node"));
  const Finished without = node(server.address(), trusting(), {"true"})->finish();
  EXPECT_EQ(without.code, 125);
  EXPECT_THAT(without.err, HasSubstr("this server wants a certificate of its CA"));
  EXPECT_THAT(rdzvctl(server, trusting()).err, HasSubstr("wants a certificate of its CA"));
  EXPECT_EQ(rdzvctl(server, shown).code, 0);
  certificates_.make_expired("old", "DNS:node");
  const Finished late =
      node(server.address(), both(trusting(), serving("old")), {"true"})->finish();
  EXPECT_EQ(late.code, 125);
  EXPECT_THAT(late.err, HasSubstr(server.address() + ": TLS: "));
  EXPECT_THAT(late.err, HasSubstr("expired"));
  const auto a = node(server.address(), shown, kMeet);
  const auto b = node(server.address(), shown, kMeet);
  EXPECT_EQ(a->finish().code, 0);
  EXPECT_EQ(b->finish().code, 0);
}

TEST_F(TlsJob, PagesAreReadByHttps) {
  const RealRdzvd server(serving());
  const std::string port = std::to_string(server.port());
  const std::string ask =
      "printf 'GET /api/v1/runs HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n' | openssl s_client -quiet "
      "-verify_return_error -CAfile " +
      certificates_.ca() + " -verify_ip 127.0.0.1 -connect 127.0.0.1:" + port;
  EXPECT_THAT(run_shell(ask).out, HasSubstr("HTTP/1.1 200 OK"));
  EXPECT_THAT(run_shell("openssl s_client -tls1_2 -connect 127.0.0.1:" + port + " </dev/null").err,
              HasSubstr("alert protocol version"));
}

// ---- files and a daemon's life ----

TEST_F(TlsJob, FilesThatAreWrongAreRefusedBeforeAnythingStarts) {
  const auto refusal = [&](const Words& options) {
    const Finished end = run(both({DDPRUN_RDZVD, "--listen", "127.0.0.1:0"}, options));
    EXPECT_EQ(end.code, 2);
    EXPECT_EQ(lines(end.err).size(), 1u) << end.err;
    return end.err;
  };
  EXPECT_THAT(refusal({"--tls-cert", certificates_.cert("server")}),
              HasSubstr("--tls-cert needs --tls-key FILE"));
  EXPECT_THAT(refusal(trusting()), HasSubstr("--tls-ca"));
  EXPECT_THAT(refusal(both(serving(), {"--store", "on"})), HasSubstr("--store on"));
  ::chmod(certificates_.key("server").c_str(), 0644);
  EXPECT_THAT(refusal(serving()), HasSubstr("has mode 0644"));
  const Finished end =
      ddprun(both({"--nnodes", "2", "--node-rank", "0", "--master-addr", "127.0.0.1"},
                  both(both(serving(), trusting()), {"--", "true"})));
  EXPECT_EQ(end.code, 2);
  EXPECT_THAT(end.err, HasSubstr("has mode 0644"));
}

TEST_F(TlsJob, SighupReadsTheCertificateAgain) {
  RealRdzvd server(serving());
  EXPECT_EQ(rdzvctl(server, trusting()).code, 0);
  certificates_.make("server", "DNS:head");
  ::kill(server.program().pid(), SIGHUP);
  ASSERT_TRUE(server.program().wait_for_error("read " + certificates_.cert("server") + " again"));
  EXPECT_THAT(rdzvctl(server, trusting()).err, HasSubstr("is not for 127.0.0.1"));
  ASSERT_EQ(::truncate(certificates_.cert("server").c_str(), 0), 0);
  ::kill(server.program().pid(), SIGHUP);
  ASSERT_TRUE(server.program().wait_for_error("the old certificate stays: TLS: the certificate"));
}

// OpenSSL is for those who need it.
TEST_F(TlsJob, APlainStartDoesNotLoadIt) {
  const Finished end = ddprun({"-n", "1", "--", "sh", "-c", "cat /proc/$PPID/maps"});
  EXPECT_EQ(end.code, 0);
  EXPECT_THAT(end.out, HasSubstr("/ddprun"));
  EXPECT_THAT(end.out, Not(HasSubstr("ssl")));
  EXPECT_THAT(end.out, Not(HasSubstr("crypto")));
}

}  // namespace
}  // namespace ddprun::test
