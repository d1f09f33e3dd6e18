// Writes HTML in which whatever comes from outside is escaped.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ddprun::http {

// Markup is written in the sources; all else goes through text().
class Html {
 public:
  // A literal of ours; a std::string does not convert, so that no text of a user gets here.
  template <std::size_t N>
  Html& markup(const char (&literal)[N]) {
    out_.append(literal, N - 1);
    return *this;
  }
  // Any UTF-8, escaped for content and for quoted attributes. Control characters but newline and
  // tab become U+FFFD.
  Html& text(std::string_view text);
  // Any text as one segment of a URL's path.
  Html& url_segment(std::string_view text);

  std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

}  // namespace ddprun::http
