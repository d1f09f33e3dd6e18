// Who may read the pages of a server with a token.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rendezvous/http/respond.h"

namespace ddprun::http {
namespace {

using testing::HasSubstr;
using testing::Not;

bool is_token(std::string_view text) {
  return text == "the:token";
}

int status_of(const std::string& authorization, bool unseen = true) {
  const auto refused = check_access(
      {.method = "GET", .target = "/", .authorization = authorization, .unseen = unseen}, is_token);
  return refused ? refused->status : 200;
}

TEST(Access, TheTokenIsAPasswordOrABearer) {
  EXPECT_EQ(status_of("Bearer the:token"), 200);
  EXPECT_EQ(status_of("bearer  the:token"), 200);
  EXPECT_EQ(status_of("Basic bWU6dGhlOnRva2Vu"), 200) << "me:the:token";
  EXPECT_EQ(status_of("BASIC OnRoZTp0b2tlbg=="), 200) << ":the:token";
}

TEST(Access, AnythingElseIsNot) {
  for (const char* wrong : {"", "Bearer", "Bearer ", "Bearer the:toke", "Bearer the:token2",
                            "the:token", "Basic", "Basic bWU6dGhlOnRva2U=", "Basic dGhlOnRva2Vu",
                            "Basic !!!!", "Digest the:token", "Bearerthe:token", "Basic the:token"})
    EXPECT_EQ(status_of(wrong), 401) << wrong;
}

TEST(Access, IsAskedForWithWhatBrowsersKnow) {
  const auto refused = check_access({.method = "GET", .target = "/", .unseen = true}, is_token);
  const std::string bytes = to_bytes(*refused, false);
  EXPECT_THAT(bytes, HasSubstr("HTTP/1.1 401 Unauthorized\r\n"));
  EXPECT_THAT(bytes, HasSubstr("\r\nWWW-Authenticate: Basic realm=\"ddprun: any name"));
  EXPECT_THAT(bytes, HasSubstr("\r\nWWW-Authenticate: Bearer\r\n"));
}

// Whoever listens on the way would know it then.
TEST(Access, WhereOthersCouldReadItTheTokenIsNeitherAskedForNorTaken) {
  for (const char* authorization : {"", "Bearer the:token", "Bearer wrong"}) {
    const auto refused =
        check_access({.method = "GET", .target = "/", .authorization = authorization}, is_token);
    ASSERT_TRUE(refused);
    EXPECT_EQ(refused->status, 403);
    EXPECT_THAT(refused->body, HasSubstr("https://"));
    EXPECT_THAT(refused->body, HasSubstr("ssh -L"));
    EXPECT_THAT(to_bytes(*refused, false), Not(HasSubstr("WWW-Authenticate")));
  }
}

TEST(Access, HealthIsForEverybody) {
  EXPECT_EQ(check_access({"GET", "/healthz"}, is_token), std::nullopt);
  EXPECT_NE(check_access({"GET", "/healthz/../"}, is_token), std::nullopt);
}

}  // namespace
}  // namespace ddprun::http
