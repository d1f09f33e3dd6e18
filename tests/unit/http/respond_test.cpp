// Which path gives what.
#include "rendezvous/http/respond.h"

#include <gmock/gmock.h>

#include <boost/json/parse.hpp>

#include "tests/unit/http/views.h"

namespace ddprun::http {
namespace {

using testing::HasSubstr;

Response get(const std::string& target, const std::string& method = "GET") {
  return respond({.method = method, .target = target}, [](const Wanted&) {
    return view({run("a b/ü"), run("plain")});
  });
}

TEST(Respond, JsonOfAllRunsAndOfOne) {
  const Response all = get("/api/v1/runs?pretty");
  EXPECT_EQ(all.content_type, "application/json");
  const boost::json::value runs = boost::json::parse(all.body);
  ASSERT_EQ(runs.as_array().size(), 2u);
  EXPECT_EQ(runs.at(1).at("id"), "plain");
  EXPECT_EQ(runs.at(1).at("nodes").at(1).at("workers").at(0).at("device"), "GPU 4");
  const boost::json::value one = boost::json::parse(get("/api/v1/runs/a%20b%2F%C3%BC").body);
  EXPECT_EQ(one.at("id"), "a b/ü");
}

TEST(Respond, AServerThatStandsBySendsReadersToTheHead) {
  const auto answer = [](const std::string& target, std::optional<std::string> head) {
    return respond_elsewhere({.method = "GET", .target = target}, head, "nobody yet", "https");
  };
  const auto moved = answer("/api/v1/runs/x?y", "h1:29400");
  ASSERT_TRUE(moved);
  EXPECT_THAT(to_bytes(*moved, false), HasSubstr("HTTP/1.1 307 Temporary Redirect\r\n"));
  EXPECT_THAT(to_bytes(*moved, true),
              HasSubstr("\r\nLocation: https://h1:29400/api/v1/runs/x?y\r\n"));
  EXPECT_EQ(answer("/", {})->status, 503);
  EXPECT_THAT(answer("/", {})->body, HasSubstr("nobody yet"));
  for (const char* own : {"/healthz", "/metrics"}) EXPECT_FALSE(answer(own, "h1:29400")) << own;
}

TEST(Respond, WhatIsNotThereIsSaidInWords) {
  EXPECT_EQ(get("/api/v1/runs/nobody").status, 404);
  EXPECT_EQ(get("/api/v1/runs/").status, 404);
  EXPECT_EQ(get("/favicon.ico").status, 404);
  EXPECT_THAT(get("/favicon.ico").body, HasSubstr("try /, /api/v1/runs"));
  for (const char* path : {"/api/v1/runs/%", "/api/v1/runs/%4", "/api/v1/runs/%zz"})
    EXPECT_EQ(get(path).status, 400) << path;
  EXPECT_EQ(get("http://other/").status, 400);
}

TEST(Respond, EverythingIsReadOnly) {
  for (const char* method : {"POST", "PUT", "DELETE", "OPTIONS", "PATCH", "get", ""}) {
    EXPECT_EQ(get("/", method).status, 405) << method;
    EXPECT_THAT(to_bytes(get("/", method), false), HasSubstr("\r\nAllow: GET, HEAD\r\n"));
  }
}

TEST(Respond, HealthAsksForNothing) {
  const auto untouched = [](const Wanted&) -> View {
    throw std::logic_error("the view was asked for");
  };
  EXPECT_EQ(respond({"GET", "/healthz"}, untouched).body, "ok\n");
  EXPECT_EQ(respond({"HEAD", "/healthz"}, untouched).status, 200);
}

TEST(Respond, AsksForNoMoreThanItShows) {
  Wanted asked;
  const auto note = [&](const Wanted& wanted) {
    asked = wanted;
    return view({run("a")});
  };
  respond({"GET", "/"}, note);
  EXPECT_EQ(asked.most_runs, 100u);
  EXPECT_TRUE(asked.workers);
  respond({"GET", "/metrics"}, note);
  EXPECT_FALSE(asked.workers);
  EXPECT_GT(asked.most_runs, 1'000'000u);
  respond({"GET", "/api/v1/runs/a%2Fb"}, note);
  EXPECT_EQ(asked.run, "a/b");
  respond({"GET", "/api/v1/runs"}, note);
  EXPECT_FALSE(asked.run);
  EXPECT_TRUE(asked.workers);
}

TEST(Respond, WhatShowsRunsMayBeLong) {
  for (const char* target : {"/", "/?x", "/metrics", "/api/v1/runs", "/api/v1/runs/a"})
    EXPECT_TRUE(shows_runs({"GET", target})) << target;
  for (const char* target : {"/healthz", "/healthz?x", "/favicon.ico"})
    EXPECT_FALSE(shows_runs({"GET", target})) << target;
  EXPECT_FALSE(shows_runs({"POST", "/"}));
}

TEST(Respond, BytesSayHowLongTheBodyIsAndThatItIsTheLast) {
  const std::string bytes = to_bytes({.content_type = "text/plain", .body = "ok\n"}, false);
  EXPECT_TRUE(
      bytes.starts_with("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
                        "Content-Length: 3\r\n"));
  EXPECT_TRUE(bytes.ends_with("Connection: close\r\n\r\nok\n"));
  const std::string head = to_bytes({.content_type = "text/plain", .body = "ok\n"}, true);
  EXPECT_THAT(head, HasSubstr("Content-Length: 3\r\n"));
  EXPECT_TRUE(head.ends_with("\r\n\r\n"));
}

}  // namespace
}  // namespace ddprun::http
