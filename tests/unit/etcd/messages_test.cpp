// Questions and answers as etcd 3.4's own gateway has them.
#include "rendezvous/etcd/messages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

namespace ddprun::etcd {
namespace {

using testing::HasSubstr;

boost::json::value json(const std::string& text) {
  return boost::json::parse(text);
}

TEST(EtcdMessages, AClaimIsForAKeyThatIsNotThere) {
  const Request request = claim_key("/p/head", "me", 7);
  EXPECT_EQ(request.path, "/v3/kv/txn");
  EXPECT_EQ(json(request.body), json(R"({
    "compare": [{"key": "L3AvaGVhZA==", "target": "CREATE", "result": "EQUAL", "create_revision": "0"}],
    "success": [{"request_put": {"key": "L3AvaGVhZA==", "value": "bWU=", "lease": "7"}}],
    "failure": [{"request_range": {"key": "L3AvaGVhZA=="}}]})"));
}

TEST(EtcdMessages, AWriteIsTakenOnceAndFromTheHeadAlone) {
  const Request request = write_fenced(
      {.key = "/p/head", .value = "me", .lease = 7, .create_revision = 40, .version = 3},
      {{"a", "1"}, {"b", {}}});
  EXPECT_EQ(json(request.body), json(R"({
    "compare": [{"key": "L3AvaGVhZA==", "target": "CREATE", "result": "EQUAL", "create_revision": "40"},
                {"key": "L3AvaGVhZA==", "target": "VERSION", "result": "EQUAL", "version": "3"}],
    "success": [{"request_put": {"key": "L3AvaGVhZA==", "value": "bWU=", "lease": "7"}},
                {"request_put": {"key": "YQ==", "value": "MQ=="}},
                {"request_delete_range": {"key": "Yg=="}}],
    "failure": [{"request_range": {"key": "L3AvaGVhZA=="}}]})"));
}

TEST(EtcdMessages, KeysAreListedFromBehindTheLastOne) {
  EXPECT_EQ(json(list_keys("/p/", "", 64).body),
            json(R"({"key": "L3Av", "range_end": "L3Aw", "limit": "64"})"));
  EXPECT_EQ(json(list_keys("/p/", "/p/a", 64).body),
            json(R"({"key": "L3AvYQA=", "range_end": "L3Aw", "limit": "64"})"));
}

TEST(EtcdMessages, ALeaseIsRead) {
  const auto granted =
      read_lease(R"({"header":{"revision":"1"},"ID":"7587869134411212806","TTL":"5"})");
  ASSERT_TRUE(granted) << granted.error().text;
  EXPECT_EQ(granted->id, 7587869134411212806);
  EXPECT_EQ(granted->life, std::chrono::seconds(5));
  const auto kept = read_lease("{\"result\":{\"header\":{},\"ID\":\"7\",\"TTL\":\"4\"}}\n");
  ASSERT_TRUE(kept) << kept.error().text;
  EXPECT_EQ(kept->life, std::chrono::seconds(4));
  EXPECT_EQ(read_lease(R"({"result":{"header":{},"ID":"7"}})")->life, std::chrono::seconds(0))
      << "there is no such lease";
  EXPECT_FALSE(read_lease(R"({"ID":"x","TTL":"5"})"));
  EXPECT_FALSE(read_lease(R"({"ID":"7","TTL":"-5"})"));
  EXPECT_THAT(read_lease(R"({"error":"etcdserver: no leader"})").error().text,
              HasSubstr("etcdserver: no leader"));
}

TEST(EtcdMessages, KeysAreRead) {
  const auto list = read_listing(
      R"({"header":{"revision":"9"},"more":true,"kvs":[{"key":"YQ==","create_revision":"4",)"
      R"("mod_revision":"5","version":"2","value":"MQ==","lease":"7"}]})");
  ASSERT_TRUE(list) << list.error().text;
  ASSERT_EQ(list->keys.size(), 1u);
  EXPECT_EQ(list->keys[0].key, "a");
  EXPECT_EQ(list->keys[0].value, "1");
  EXPECT_EQ(list->keys[0].create_revision, 4);
  EXPECT_EQ(list->keys[0].version, 2);
  EXPECT_EQ(list->keys[0].lease, 7);
  EXPECT_TRUE(list->more);
  EXPECT_TRUE(read_listing(R"({"header":{}})")->keys.empty());
  EXPECT_FALSE(read_listing("{}")) << "an empty store is no answer of somebody else";
  EXPECT_FALSE(read_listing(R"({"header":{},"kvs":[{"key":"?"}]})"));
}

TEST(EtcdMessages, ATransactionSaysWhetherItWasDone) {
  const auto done =
      read_outcome(R"({"header":{"revision":"9"},"succeeded":true,"responses":[{}]})");
  ASSERT_TRUE(done) << done.error().text;
  EXPECT_TRUE(done->done);
  EXPECT_EQ(done->revision, 9);
  const auto fenced = read_outcome(
      R"({"header":{"revision":"9"},"responses":[{"response_range":{"header":{},"kvs":[)"
      R"({"key":"YQ==","create_revision":"4","version":"2","value":"MQ=="}],"count":"1"}}]})");
  ASSERT_TRUE(fenced) << fenced.error().text;
  EXPECT_FALSE(fenced->done);
  EXPECT_EQ(fenced->found->create_revision, 4);
  EXPECT_FALSE(
      read_outcome(R"({"header":{"revision":"9"},"responses":[{"response_range":{}}]})")->found)
      << "there is no head";
  EXPECT_FALSE(read_outcome(R"({"header":{"revision":"9"}})")) << "why was it not done?";
  EXPECT_FALSE(read_outcome(R"({"succeeded":true})"));
  EXPECT_FALSE(read_outcome("<html>"));
}

TEST(EtcdMessages, AProblemIsOneLine) {
  EXPECT_EQ(read_problem(R"({"error":"etcdserver: request timed out","code":14})"),
            "etcdserver: request timed out");
  EXPECT_EQ(read_problem(R"({"error":{"grpc_code":14,"message":"no\nleader"}})"), "no\\x0aleader");
  EXPECT_EQ(read_problem("nonsense\n"), "'nonsense\\x0a'");
  EXPECT_EQ(explain_problem(R"({"error":"etcdserver: no leader"})", 503),
            "etcdserver: no leader (HTTP 503)");
  EXPECT_NE(explain_problem(R"({"error":"etcdserver: user name is empty"})", 400).find("log in"),
            std::string::npos);
  EXPECT_NE(explain_problem(R"({"error":"etcdserver: mvcc: database space exceeded"})", 429)
                .find("alarm disarm"),
            std::string::npos);
  EXPECT_EQ(explain_problem("404 page not found\n", 404),
            "no etcd 3.4 or later answers at that port (HTTP 404)");
}

}  // namespace
}  // namespace ddprun::etcd
