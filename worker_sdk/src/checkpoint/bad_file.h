// What the readers of checkpoints throw, and words for their messages.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace ddp::detail {

// A file that is not what it should be, or contents that it cannot hold. what() says what was
// expected and what was found, without the path, which the reader of bytes does not know.
class BadFile : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// 'text' in quotes, cut where it is long, with \xNN for what a terminal should not be sent.
std::string in_quotes(std::string_view text);

// Whether it is UTF-8 as RFC 3629 defines it: no surrogates, nothing longer than needed.
bool is_utf8(std::string_view text);

}  // namespace ddp::detail
