// Who may read the pages of a server with a token.
#include <algorithm>
#include <cstdint>

#include "rendezvous/http/respond.h"

namespace ddprun::http {
namespace {

constexpr const char* kUnseenWays =
    "read this page by https:// (--tls-cert and --tls-key of the server), or on the server's own "
    "host, for example through ssh -L 29400:127.0.0.1:29400 HOST";

int value_of(char digit) {
  static constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const std::size_t value = kDigits.find(digit);
  return value == std::string_view::npos ? -1 : static_cast<int>(value);
}

// As far as it is base64.
std::string decode_base64(std::string_view text) {
  std::string decoded;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char digit : text) {
    const int value = value_of(digit);
    if (value < 0) break;
    bits = (bits << 6 | static_cast<std::uint32_t>(value)) & 0xffffff;
    count += 6;
    if (count < 8) continue;
    count -= 8;
    decoded += static_cast<char>(bits >> count & 0xff);
  }
  return decoded;
}

bool is_scheme(std::string_view word, std::string_view scheme) {
  if (word.size() != scheme.size()) return false;
  for (std::size_t i = 0; i < word.size(); ++i)
    if ((word[i] | 0x20) != scheme[i]) return false;
  return true;
}

// What the request says the token is; empty without one.
std::string offered(std::string_view authorization) {
  const std::size_t end = std::min(authorization.find(' '), authorization.size());
  std::string_view rest = authorization.substr(end);
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  if (is_scheme(authorization.substr(0, end), "bearer")) return std::string(rest);
  if (!is_scheme(authorization.substr(0, end), "basic")) return {};
  const std::string pair = decode_base64(rest);
  const std::size_t colon = pair.find(':');
  return colon == std::string::npos ? "" : pair.substr(colon + 1);
}

}  // namespace

std::optional<Response> check_access(const Request& request,
                                     const std::function<bool(std::string_view)>& is_token) {
  if (request.target == "/healthz") return {};
  const bool offers = !request.authorization.empty();
  if (!request.unseen)
    return refusal(403, offers
                            ? "the token was sent where others could read it on its way: replace "
                              "it by another one, and " +
                                  std::string(kUnseenWays)
                            : "this server has a token, and it could be read on its way here; " +
                                  std::string(kUnseenWays));
  if (!offers)
    return refusal(401,
                   "this server has a token: give it as the password, with any name, or as a "
                   "bearer: curl -K <(printf 'oauth2-bearer = \"%s\"' \"$(cat FILE)\") URL");
  const std::string token = offered(request.authorization);
  if (!token.empty() && is_token(token)) return {};
  return refusal(401, "that is not the token of this server");
}

}  // namespace ddprun::http
