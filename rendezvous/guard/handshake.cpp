#include "rendezvous/guard/handshake.h"

#include <sys/random.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "rendezvous/guard/hex.h"

namespace ddprun::guard {
namespace {

constexpr std::size_t kRandomBytes = 32;

std::string proof(const Token& token, std::string_view side, const std::string& numbers,
                  const std::string& binding) {
  return token.sign("ddprun roster 1\n" + std::string(side) + "\n" + numbers + "\n" + binding);
}

ServerHandshake::Step refuse(const std::string& to_the_other, const std::string& to_the_log) {
  return {.say = protocol::Refused{to_the_other}, .refusal = to_the_log};
}

}  // namespace

std::string random_number() {
  std::string bytes(kRandomBytes, '\0');
  std::size_t size = 0;
  while (size < bytes.size()) {
    const ssize_t got = ::getrandom(bytes.data() + size, bytes.size() - size, 0);
    if (got < 0 && errno != EINTR)
      throw std::runtime_error(std::string("getrandom: ") + std::strerror(errno));
    size += got > 0 ? static_cast<std::size_t>(got) : 0;
  }
  return to_hex(bytes);
}

std::optional<ServerHandshake::Step> ServerHandshake::on_message(
    const protocol::AgentMessage& message) {
  if (const auto* said = std::get_if<protocol::Challenge>(&message)) return challenge(*said);
  if (const auto* said = std::get_if<protocol::Answer>(&message)) return check(*said);
  if (done_) return {};
  return refuse(
      "this server lets in only those who know its token: give the same one here, with "
      "--token-file FILE or RDZV_TOKEN",
      "it has no token, and this server's is needed; give it the same one, with --token-file FILE "
      "or RDZV_TOKEN");
}

ServerHandshake::Step ServerHandshake::challenge(const protocol::Challenge& message) {
  if (token_ == nullptr)
    return refuse(
        "a token was given here, but this server has none: give it the same one, with --token-file "
        "FILE or RDZV_TOKEN, or leave it out on both sides",
        "it has a token, and this server has none; give this server the same one, with "
        "--token-file FILE or RDZV_TOKEN");
  if (done_ || !numbers_.empty()) return refuse("a second challenge", "it sent a second challenge");
  const std::string own = random_number();
  numbers_ = message.number + "\n" + own;
  return {.say = protocol::Challenge{own}};
}

ServerHandshake::Step ServerHandshake::check(const protocol::Answer& message) {
  if (done_ || numbers_.empty())
    return refuse("an answer without a challenge", "it sent an answer without a challenge");
  if (!equal_in_constant_time(message.proof, proof(*token_, "client", numbers_, binding_)))
    return refuse(
        "the token that was given here is not this server's: give both the same one, with "
        "--token-file FILE or RDZV_TOKEN",
        "its token is not this server's; give both the same one, with --token-file FILE or "
        "RDZV_TOKEN");
  done_ = true;
  return {.say = protocol::Answer{proof(*token_, "server", numbers_, binding_)}};
}

ClientHandshake::Step ClientHandshake::on_message(const protocol::ServerMessage& message) {
  if (const auto* said = std::get_if<protocol::Challenge>(&message); said && numbers_.empty()) {
    numbers_ = number_ + "\n" + said->number;
    return {.say = protocol::Answer{proof(*token_, "client", numbers_, binding_)}};
  }
  const auto* said = std::get_if<protocol::Answer>(&message);
  done_ = said != nullptr && !numbers_.empty() &&
          equal_in_constant_time(said->proof, proof(*token_, "server", numbers_, binding_));
  if (done_) return {};
  return {.stranger =
              "the server there does not show that it knows the token that was given here, so it "
              "was told nothing; is another program on this port, or somebody in between?"};
}

}  // namespace ddprun::guard
