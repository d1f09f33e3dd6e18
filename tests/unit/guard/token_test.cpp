// Where a token comes from, and what is refused.
#include "rendezvous/guard/token.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <fstream>

#include "rendezvous/base/read_file.h"
#include "tests/support/temporary_folder.h"

namespace ddprun::guard {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::string kSecret = "correct-horse-battery-staple";

class TokenFile : public testing::Test {
 protected:
  void write(const std::string& text, mode_t mode = 0600) {
    std::ofstream(file_) << text;
    ASSERT_EQ(::chmod(file_.c_str(), mode), 0);
  }
  std::string error() const {
    const auto token = Token::find(file_, {});
    return token ? "" : token.error().text;
  }

  const test::TemporaryFolder folder_;
  const std::string file_ = folder_ / "token";
};

TEST_F(TokenFile, HasTheTokenAndPerhapsANewline) {
  for (const std::string& text : {kSecret, kSecret + "\n", kSecret + "\r\n"}) {
    write(text);
    const auto token = Token::find(file_, {});
    ASSERT_TRUE(token) << token.error().text;
    EXPECT_TRUE((*token)->is(kSecret));
    EXPECT_FALSE((*token)->is(kSecret + "\n"));
  }
}

TEST_F(TokenFile, IsForItsOwnerAlone) {
  for (const mode_t mode : {0600u, 0400u, 0640u, 0440u}) {
    write(kSecret, mode);
    EXPECT_EQ(error(), "") << std::oct << mode;
  }
  for (const mode_t mode : {0644u, 0604u, 0666u, 0660u, 0602u, 0620u}) {
    write(kSecret, mode);
    EXPECT_THAT(error(), HasSubstr("the token file " + file_ + " has mode 0")) << std::oct << mode;
    EXPECT_THAT(error(), HasSubstr("chmod 600 " + file_));
    EXPECT_THAT(error(), Not(HasSubstr(kSecret)));
  }
}

TEST_F(TokenFile, MayNotBeGuessedAndFitsIntoAHeader) {
  EXPECT_THAT(error(), HasSubstr("No such file or directory"));
  write("");
  EXPECT_THAT(error(), HasSubstr("has 0 characters, at least 16 are needed"));
  write("fifteen-letters");
  EXPECT_THAT(error(), HasSubstr("openssl rand -hex 32"));
  EXPECT_THAT(error(), Not(HasSubstr("fifteen-letters")));
  write("two words are too many");
  EXPECT_THAT(error(), HasSubstr("has a blank"));
  write(std::string(kLongestToken, 'x'));
  EXPECT_EQ(error(), "");
  write(std::string(kLongestToken + 1, 'x'));
  EXPECT_THAT(error(), HasSubstr("has more than 4096 characters"));
}

TEST_F(TokenFile, CountsMoreThanTheVariable) {
  write(kSecret);
  EXPECT_TRUE((*Token::find(file_, "something-else-that-is-long"))->is(kSecret));
  EXPECT_TRUE((*Token::find({}, kSecret))->is(kSecret));
  EXPECT_EQ(*Token::find({}, {}), nullptr);
  const auto bad = Token::find({}, "short");
  ASSERT_FALSE(bad);
  EXPECT_THAT(bad.error().text, HasSubstr("the token of RDZV_TOKEN has 5 characters"));
}

// The environment is where /proc/PID/environ looks.
TEST(TokenVariable, IsTakenOutOfTheProcess) {
  const std::string entry = "RDZV_TOKEN=" + kSecret;
  std::string memory = entry;  // as the kernel has put it on the stack
  ASSERT_EQ(::putenv(memory.data()), 0);
  EXPECT_EQ(take_token_variable(), kSecret);
  EXPECT_EQ(::getenv("RDZV_TOKEN"), nullptr);
  EXPECT_THAT(memory, Not(HasSubstr("horse")));
  EXPECT_EQ(take_token_variable(), std::nullopt);
  ::setenv("RDZV_TOKEN", "", 1);
  EXPECT_EQ(take_token_variable(), std::nullopt);
}

TEST(Token, SignsWithHmacSha256) {
  // As openssl dgst -sha256 -hmac says: the vectors of RFC 4231 have keys that are no tokens.
  const auto token = Token::make(kSecret, "test");
  ASSERT_TRUE(token);
  EXPECT_EQ((*token)->sign("what do ya want for nothing?"),
            "dc8fe8630756fa4ad4b5c0382a027407f7003bc0aeb94f753b77cf88d74a51c0");
}

TEST(Token, ComparesWholeTexts) {
  EXPECT_TRUE(equal_in_constant_time("", ""));
  EXPECT_TRUE(equal_in_constant_time("abc", "abc"));
  for (const char* other : {"", "ab", "abcd", "abd", "bbc", "Abc"})
    EXPECT_FALSE(equal_in_constant_time("abc", other)) << other;
}

}  // namespace
}  // namespace ddprun::guard
