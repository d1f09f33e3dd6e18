// Who gets in, and what each side tells before.
#include "rendezvous/guard/handshake.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ddprun::guard {
namespace {

using protocol::Answer;
using protocol::Challenge;
using protocol::Refused;
using testing::HasSubstr;

std::shared_ptr<const Token> token(const std::string& text = "one-token-of-many-letters") {
  return Token::make(text, "test").value();
}

// What the two sides say to each other until one of them has nothing more to say.
struct Talk {
  bool client_done = false;
  bool server_done = false;
  std::string stranger;  // the client's reason
  std::string refusal;   // the server's reason
  std::string refused;   // what the client is told
  std::string said;      // all of it

  Talk(ServerHandshake server, ClientHandshake client) {
    std::optional<protocol::AgentMessage> next = client.challenge();
    while (next) {
      if (const auto* answer = std::get_if<Answer>(&*next)) said += answer->proof;
      const auto reply = server.on_message(*next);
      next.reset();
      if (!reply || !reply->say) break;
      refusal = reply->refusal;
      if (const auto* why = std::get_if<Refused>(&*reply->say)) {
        refused = why->why;
        break;
      }
      if (const auto* answer = std::get_if<Answer>(&*reply->say)) said += answer->proof;
      const auto step = client.on_message(*reply->say);
      stranger = step.stranger;
      next = step.say;
    }
    client_done = client.done();
    server_done = server.done();
  }
};

TEST(Handshake, WhoKnowsTheTokenGetsIn) {
  const Talk talk{ServerHandshake(token()), ClientHandshake(token())};
  EXPECT_TRUE(talk.client_done);
  EXPECT_TRUE(talk.server_done);
  EXPECT_EQ(talk.said.size(), 128u) << "two proofs";
  EXPECT_EQ(talk.said.find("one-token"), std::string::npos);
}

TEST(Handshake, WhoHasAnotherOneDoesNot) {
  const Talk talk(ServerHandshake(token()),
                  ClientHandshake(token("another-token-of-many-letters")));
  EXPECT_FALSE(talk.client_done);
  EXPECT_FALSE(talk.server_done);
  EXPECT_EQ(talk.said.size(), 64u) << "the server proves nothing to strangers";
  EXPECT_THAT(talk.refused, HasSubstr("is not this server's: give both the same one"));
  EXPECT_THAT(talk.refusal, HasSubstr("its token is not this server's"));
}

TEST(Handshake, ASideWithoutATokenIsToldSo) {
  const Talk talk(ServerHandshake(nullptr), ClientHandshake(token()));
  EXPECT_THAT(talk.refused, HasSubstr("this server has none"));
  EXPECT_THAT(talk.refusal, HasSubstr("this server has none; give this server the same one"));
  EXPECT_FALSE(talk.client_done);
  EXPECT_EQ(talk.said, "");

  ServerHandshake server(token());
  const auto step = server.on_message(protocol::AskStatus{});
  ASSERT_TRUE(step && step->say);
  EXPECT_THAT(std::get<Refused>(*step->say).why, HasSubstr("--token-file FILE or RDZV_TOKEN"));
  EXPECT_FALSE(step->refusal.empty());
  EXPECT_FALSE(server.done());
}

TEST(Handshake, WithoutTokensThereIsNone) {
  ServerHandshake server(nullptr);
  EXPECT_TRUE(server.done());
  EXPECT_FALSE(server.has_shown_token());
  EXPECT_EQ(server.on_message(protocol::AskStatus{}), std::nullopt);
}

TEST(Handshake, MessagesAreForTheOwnerOnceItIsDone) {
  ServerHandshake server(token());
  ClientHandshake client(token());
  const auto number = server.on_message(client.challenge());
  const auto answer = client.on_message(*number->say);
  EXPECT_FALSE(server.has_shown_token());
  server.on_message(*answer.say);
  EXPECT_TRUE(server.has_shown_token());
  EXPECT_EQ(server.on_message(protocol::AskStatus{}), std::nullopt);
  EXPECT_FALSE(server.on_message(client.challenge())->refusal.empty());
}

// Each number is new, so an old proof is worth nothing, whoever has overheard it.
TEST(Handshake, AnOldProofIsWorthNothing) {
  ClientHandshake client(token());
  ServerHandshake first(token());
  const auto answer = client.on_message(*first.on_message(client.challenge())->say);
  ServerHandshake second(token());
  second.on_message(client.challenge());
  EXPECT_FALSE(second.on_message(*answer.say)->refusal.empty());
  EXPECT_FALSE(second.done());
  ServerHandshake third(token());
  EXPECT_FALSE(third.on_message(*answer.say)->refusal.empty()) << "without a challenge";
}

TEST(Handshake, TheServersProofIsNotTheClientsSentBack) {
  ClientHandshake client(token());
  const auto answer = client.on_message(Challenge{client.challenge().number});
  const auto step = client.on_message(Answer{std::get<Answer>(*answer.say).proof});
  EXPECT_FALSE(client.done());
  EXPECT_THAT(step.stranger, HasSubstr("does not show that it knows the token"));
}

TEST(Handshake, AClientTellsNothingToAServerThatShowsNothing) {
  for (const protocol::ServerMessage& message :
       {protocol::ServerMessage(protocol::Welcome{}), protocol::ServerMessage(Answer{"00"}),
        protocol::ServerMessage(protocol::Ping{1})}) {
    ClientHandshake client(token());
    EXPECT_FALSE(client.on_message(message).stranger.empty());
    EXPECT_FALSE(client.done());
  }
}

// Somebody in the middle of two TLS sessions passes on what does not fit.
TEST(Handshake, IsBoundToItsTlsSession) {
  const Talk talk(ServerHandshake(token(), "session 1"), ClientHandshake(token(), "session 2"));
  EXPECT_FALSE(talk.server_done);
  EXPECT_FALSE(talk.client_done);
  EXPECT_TRUE(Talk(ServerHandshake(token(), "s"), ClientHandshake(token(), "s")).client_done);
}

TEST(Handshake, NumbersAreRandom) {
  EXPECT_EQ(random_number().size(), 64u);
  EXPECT_NE(random_number(), random_number());
}

}  // namespace
}  // namespace ddprun::guard
