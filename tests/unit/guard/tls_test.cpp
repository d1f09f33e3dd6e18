// Two sides of TLS that talk through strings.
#include "rendezvous/guard/tls.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include "rendezvous/guard/handshake.h"
#include "tests/support/certificates.h"

namespace ddprun::guard {
namespace {

using testing::HasSubstr;

const std::string kHere = "DNS:localhost,IP:127.0.0.1,IP:::1";

// A client and a server, and what went wrong with each of them.
struct Pair {
  TlsStream client;
  TlsStream server;
  std::string to_client, to_server;  // ciphertext
  std::string client_error, server_error;
  std::string client_read, server_read;

  Pair(const std::shared_ptr<const Tls>& client_side, const std::shared_ptr<const Tls>& server_side)
      : client(client_side), server(server_side) {
    client_error = error_of(client.receive({}, client_read, to_server));
    exchange();
  }
  // Until neither has anything more for the other one.
  void exchange() {
    while (!to_client.empty() || !to_server.empty()) {
      std::string bytes = std::exchange(to_server, {});
      if (!bytes.empty()) note(server.receive(bytes, server_read, to_client), server_error);
      bytes = std::exchange(to_client, {});
      if (!bytes.empty()) note(client.receive(bytes, client_read, to_server), client_error);
    }
  }
  static std::string error_of(const Result<void>& result) {
    return result ? "" : result.error().text;
  }
  static void note(const Result<void>& result, std::string& error) {
    if (!result && error.empty()) error = result.error().text;
  }
  bool is_open() const { return client.is_open() && server.is_open() && client_error.empty(); }
};

class TlsTest : public testing::Test {
 protected:
  TlsFiles server_files(const std::string& name = "server") const {
    return {.cert = certificates_.cert(name), .key = certificates_.key(name), .ca = {}};
  }
  TlsFiles client_files() const { return {.cert = {}, .key = {}, .ca = certificates_.ca()}; }
  std::shared_ptr<Tls> server(const TlsFiles& files, const std::string& key = {}) const {
    auto tls = Tls::server(files, key);
    EXPECT_TRUE(tls) << tls.error().text;
    return *tls;
  }
  std::shared_ptr<Tls> client(const std::string& peer = "localhost") const {
    auto tls = Tls::client(client_files(), peer);
    EXPECT_TRUE(tls) << tls.error().text;
    return *tls;
  }

  const test::Certificates certificates_;
};

TEST_F(TlsTest, WhatIsSaidArrives) {
  certificates_.make("server", kHere);
  Pair pair(client(), server(server_files()));
  ASSERT_TRUE(pair.is_open()) << pair.client_error << pair.server_error;
  const std::string large(100'000, 'x');
  pair.client.send("hello", pair.to_server);
  pair.server.send(large, pair.to_client);
  EXPECT_EQ(pair.to_server.find("hello"), std::string::npos);
  pair.exchange();
  EXPECT_EQ(pair.server_read, "hello");
  EXPECT_EQ(pair.client_read, large);
  pair.client.end(pair.to_server);
  pair.exchange();
  EXPECT_TRUE(pair.server.has_ended());
  EXPECT_FALSE(pair.client.has_ended());
  EXPECT_EQ(pair.server_error, "");
}

TEST_F(TlsTest, NamesAndAddressesAreChecked) {
  certificates_.make("server", kHere);
  for (const char* name : {"localhost", "127.0.0.1", "::1"})
    EXPECT_TRUE(Pair(client(name), server(server_files())).is_open()) << name;
  for (const char* name : {"head", "127.0.0.2", "::2", "localhost.evil"}) {
    const Pair pair(client(name), server(server_files()));
    EXPECT_FALSE(pair.client.is_open());
    EXPECT_THAT(pair.client_error, HasSubstr(std::string("certificate is not for ") + name));
    EXPECT_THAT(pair.client_error, HasSubstr("subjectAltName"));
  }
}

TEST_F(TlsTest, WrongCertificatesAreNamed) {
  certificates_.make_expired("old", kHere);
  const Pair expired(client(), server(server_files("old")));
  EXPECT_FALSE(expired.client.is_open());
  EXPECT_THAT(expired.client_error, HasSubstr("certificate has expired; make a new one"));
  certificates_.make_alone("alone", kHere);
  const Pair alone(client(), server(server_files("alone")));
  EXPECT_FALSE(alone.client.is_open());
  EXPECT_THAT(alone.client_error, HasSubstr("self-signed certificate"));
  EXPECT_THAT(alone.client_error, HasSubstr("--tls-ca"));
  EXPECT_THAT(alone.server_error, HasSubstr("alert unknown ca"));
}

TEST_F(TlsTest, OneThatHasSignedItselfCanBeTheCa) {
  certificates_.make_alone("alone", kHere);
  const auto tls =
      Tls::client({.cert = {}, .key = {}, .ca = certificates_.cert("alone")}, "localhost");
  ASSERT_TRUE(tls);
  EXPECT_TRUE(Pair(*tls, server(server_files("alone"))).is_open());
}

TEST_F(TlsTest, TheServerKnowsWhoHasACertificate) {
  certificates_.make("server", kHere);
  certificates_.make("node", "DNS:node");
  TlsFiles asking = server_files();
  asking.ca = certificates_.ca();
  const Pair without(client(), server(asking));
  ASSERT_TRUE(without.is_open()) << without.server_error;
  EXPECT_FALSE(without.server.facts().has_certificate);
  TlsFiles files = client_files();
  files.cert = certificates_.cert("node");
  files.key = certificates_.key("node");
  const Pair with(Tls::client(files, "localhost").value(), server(asking));
  ASSERT_TRUE(with.is_open()) << with.server_error;
  EXPECT_TRUE(with.server.facts().has_certificate);
  EXPECT_FALSE(Pair(client(), server(server_files())).server.facts().has_certificate);
  certificates_.make_alone("foreign", "DNS:node");
  files.cert = certificates_.cert("foreign");
  files.key = certificates_.key("foreign");
  EXPECT_FALSE(Pair(Tls::client(files, "localhost").value(), server(asking)).server.is_open());
}

// ---- shared keys: what stores have in the place of certificates ----

const std::string kKey(64, 'a');
const std::string kOtherKey(64, 'b');

TEST_F(TlsTest, ASharedKeyNeedsNoCertificates) {
  Pair pair(Tls::client_with(kKey).value(), server({}, kKey));
  ASSERT_TRUE(pair.is_open()) << pair.client_error << pair.server_error;
  EXPECT_TRUE(pair.server.facts().used_shared_key);
  pair.client.send("hello", pair.to_server);
  pair.exchange();
  EXPECT_EQ(pair.server_read, "hello");
}

TEST_F(TlsTest, AnotherKeyDoesNotFit) {
  const Pair pair(Tls::client_with(kOtherKey).value(), server({}, kKey));
  EXPECT_FALSE(pair.client.is_open());
  EXPECT_FALSE(pair.server.is_open());
}

// The port of a job with given node ranks serves both.
TEST_F(TlsTest, AServerCanHaveBoth) {
  certificates_.make("server", kHere);
  TlsFiles files = server_files();
  files.ca = certificates_.ca();  // it asks for certificates as well
  const auto both = server(files, kKey);
  const Pair by_certificate(client(), both);
  ASSERT_TRUE(by_certificate.is_open()) << by_certificate.client_error;
  EXPECT_FALSE(by_certificate.server.facts().used_shared_key);
  const Pair by_key(Tls::client_with(kKey).value(), both);
  ASSERT_TRUE(by_key.is_open()) << by_key.client_error;
  EXPECT_TRUE(by_key.server.facts().used_shared_key);
}

// Somebody who answers at the store's address with any certificate is not the store.
TEST_F(TlsTest, AClientWithAKeyTakesNoOtherServer) {
  certificates_.make("server", kHere);
  EXPECT_FALSE(Pair(Tls::client_with(kKey).value(), server(server_files())).client.is_open());
  EXPECT_FALSE(
      Pair(Tls::client_with(kKey).value(), server(server_files(), kOtherKey)).client.is_open());
}

// ---- what else can go wrong ----

TEST_F(TlsTest, BothSidesHaveTheSameBindingAndNobodyElse) {
  certificates_.make("server", kHere);
  const Pair one(client(), server(server_files()));
  const Pair two(client(), server(server_files()));
  EXPECT_EQ(one.client.facts().binding.size(), 64u);
  EXPECT_EQ(one.client.facts().binding, one.server.facts().binding);
  EXPECT_NE(one.client.facts().binding, two.client.facts().binding);
}

TEST_F(TlsTest, WhatIsNoTlsIsSaidToBeNone) {
  std::string in, out;
  TlsStream stream(client());
  ASSERT_TRUE(stream.receive({}, in, out));
  const auto taken = stream.receive("there is no TLS here\n", in, out);
  ASSERT_FALSE(taken);
  EXPECT_THAT(taken.error().text, HasSubstr("the other side does not speak TLS"));
  certificates_.make("server", kHere);
  TlsStream asked(server(server_files()));
  EXPECT_FALSE(asked.receive("GET / HTTP/1.1\r\n\r\n", in, out));
}

TEST_F(TlsTest, ACutOffOrChangedRecordIsAnError) {
  certificates_.make("server", kHere);
  Pair pair(client(), server(server_files()));
  pair.client.send("hello", pair.to_server);
  pair.to_server[pair.to_server.size() - 3] ^= 1;
  pair.exchange();
  EXPECT_EQ(pair.server_read, "");
  EXPECT_NE(pair.server_error, "");
}

TEST_F(TlsTest, FilesThatDoNotFitAreNamed) {
  certificates_.make("server", kHere);
  certificates_.make("other", kHere);
  const auto error_of = [](const TlsFiles& files) {
    const auto tls = Tls::server(files);
    return tls ? "" : tls.error().text;
  };
  TlsFiles files = server_files();
  files.key = certificates_.key("other");
  EXPECT_THAT(error_of(files), HasSubstr("private key"));
  files.key.reset();
  EXPECT_THAT(error_of(files), HasSubstr("--tls-cert needs --tls-key FILE"));
  files = server_files();
  files.cert = "/nothing/here.pem";
  EXPECT_THAT(error_of(files), HasSubstr("the certificate /nothing/here.pem"));
  files = server_files();
  ::chmod(files.key->c_str(), 0644);
  EXPECT_THAT(error_of(files), HasSubstr("has mode 0644, so that others can read the private key"));
}

TEST_F(TlsTest, TheFilesCanBeReadAgain) {
  certificates_.make("server", kHere);
  const auto tls = server(server_files());
  certificates_.make("server", "DNS:head");
  EXPECT_TRUE(Pair(client(), tls).is_open());
  ASSERT_TRUE(tls->read_again());
  EXPECT_FALSE(Pair(client(), tls).is_open());
  EXPECT_TRUE(Pair(client("head"), tls).is_open());
}

}  // namespace
}  // namespace ddprun::guard
