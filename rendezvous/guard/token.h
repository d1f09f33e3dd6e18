// The token: a secret that a server shares with those who may use it. Whoever knows it may join
// runs, cancel them and read their pages.
//
// It travels only as the password of a page that is read over TLS or on the server's own host;
// agents and rdzvctl prove that they know it, see handshake.h.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "rendezvous/base/result.h"

namespace ddprun::guard {

class Openssl;

inline constexpr const char* kTokenVariable = "RDZV_TOKEN";
inline constexpr std::size_t kShortestToken = 16;  // a shorter one could be guessed from a proof
inline constexpr std::size_t kLongestToken = 4096;

// Goes behind "--token: ", an option that no program has.
inline constexpr const char* kTokenOnCommandLine =
    "a command line can be read by everybody on this host, so no token is taken from it; write "
    "another one, for this one has been seen, into a file of mode 600 and give --token-file FILE, "
    "or set RDZV_TOKEN";

// Whether a word of the command line, with or without dashes, is that option, perhaps with a value.
bool is_token_option(std::string_view word);

// The token in `file`: what is in it without the newline at its end. Error: it cannot be read,
// others than its owner and its group may read it or others than its owner write it, or it holds no
// token. The text never has anything of what was read.
Result<std::string> read_token(const std::string& file);

// The value of kTokenVariable, if it is set and not empty. It is taken out of the environment, and
// wiped from the memory that /proc/PID/environ shows: programs that are started do not get it. For
// the beginning of main().
std::optional<std::string> take_token_variable();

class Token {
 public:
  // `source` is where the text comes from, for errors. Error: OpenSSL is not there, or the text is
  // too short, too long or has other characters than printable ones without blanks; it says how to
  // make a token.
  static Result<std::shared_ptr<const Token>> make(std::string text, const std::string& source);
  // From `file` or, without one, from what take_token_variable() gave; null if there is neither.
  static Result<std::shared_ptr<const Token>> find(const std::optional<std::string>& file,
                                                   const std::optional<std::string>& variable);
  ~Token();
  Token(const Token&) = delete;
  Token& operator=(const Token&) = delete;

  // HMAC-SHA256 of `text` under the token, as 64 hexadecimal digits.
  std::string sign(std::string_view text) const;
  // Whether `text` is the token. Takes as long for any wrong one of the same length.
  bool is(std::string_view text) const;

 private:
  Token(std::string text, std::shared_ptr<const Openssl> openssl)
      : text_(std::move(text)), openssl_(std::move(openssl)) {}

  std::string text_;
  std::shared_ptr<const Openssl> openssl_;
};

// Takes as long for any two texts of these lengths.
bool equal_in_constant_time(std::string_view one, std::string_view other);

}  // namespace ddprun::guard
