#include "rendezvous/guard/token.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "rendezvous/base/unique_fd.h"
#include "rendezvous/guard/hex.h"
#include "rendezvous/guard/openssl.h"
#include "rendezvous/guard/secret_file.h"

namespace ddprun::guard {
namespace {

constexpr const char* kHowToMake = "make one with: (umask 077; openssl rand -hex 32 >FILE)";

Result<std::string> read_up_to(int file, const std::string& name, std::size_t limit) {
  std::string text(limit + 1, '\0');
  std::size_t size = 0;
  while (size < text.size()) {
    const ssize_t got = ::read(file, text.data() + size, text.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Error{name + ": " + std::strerror(errno)};
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
  }
  text.resize(size);
  return Result<std::string>(boost::system::in_place_value, std::move(text));
}

bool is_visible(char c) {
  return c > ' ' && c <= '~';
}

}  // namespace

bool is_token_option(std::string_view word) {
  word.remove_prefix(std::min(word.find_first_not_of('-'), word.size()));
  return word.substr(0, word.find('=')) == "token";
}

Result<std::string> read_token(const std::string& file) {
  const UniqueFd opened(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!opened) return Error{file + ": " + std::strerror(errno)};
  if (const auto mode = check_secret(opened.get(), file, "the token"); !mode) return mode.error();
  auto text = read_up_to(opened.get(), file, kLongestToken + 2);
  while (text && !text->empty() && (text->back() == '\n' || text->back() == '\r')) text->pop_back();
  return text;
}

std::optional<std::string> take_token_variable() {
  char* value = std::getenv(kTokenVariable);
  if (value == nullptr) return {};
  std::string text = value;
  ::explicit_bzero(value, text.size());
  ::unsetenv(kTokenVariable);
  if (text.empty()) return {};
  return text;
}

Result<std::shared_ptr<const Token>> Token::make(std::string text, const std::string& source) {
  if (text.size() < kShortestToken)
    return Error{"the token of " + source + " has " + std::to_string(text.size()) +
                 " characters, at least " + std::to_string(kShortestToken) + " are needed; " +
                 kHowToMake};
  if (text.size() > kLongestToken)
    return Error{"the token of " + source + " has more than " + std::to_string(kLongestToken) +
                 " characters; " + kHowToMake};
  if (!std::ranges::all_of(text, is_visible))
    return Error{"the token of " + source +
                 " has a blank, or a character that is no plain letter, digit or sign; " +
                 kHowToMake};
  auto openssl = Openssl::open();
  if (!openssl) return Error{"the token of " + source + " needs OpenSSL: " + openssl.error().text};
  return std::shared_ptr<const Token>(new Token(std::move(text), std::move(*openssl)));
}

Result<std::shared_ptr<const Token>> Token::find(const std::optional<std::string>& file,
                                                 const std::optional<std::string>& variable) {
  if (!file && !variable) return std::shared_ptr<const Token>();
  if (!file) return make(*variable, kTokenVariable);
  auto text = read_token(*file);
  if (!text) return Error{"the token file " + text.error().text};
  return make(std::move(*text), *file);
}

Token::~Token() {
  ::explicit_bzero(text_.data(), text_.size());
}

std::string Token::sign(std::string_view text) const {
  unsigned char code[kHmacBytes];
  if (!openssl_->functions().hmac(text_.data(), text_.size(), text.data(), text.size(), code))
    throw std::runtime_error("OpenSSL cannot compute HMAC-SHA256");
  return to_hex({reinterpret_cast<const char*>(code), sizeof code});
}

bool Token::is(std::string_view text) const {
  return equal_in_constant_time(sign(text), sign(text_));
}

bool equal_in_constant_time(std::string_view one, std::string_view other) {
  if (one.size() != other.size()) return false;
  unsigned difference = 0;
  for (std::size_t i = 0; i < one.size(); ++i)
    difference |= static_cast<unsigned char>(one[i]) ^ static_cast<unsigned char>(other[i]);
  return difference == 0;
}

}  // namespace ddprun::guard
