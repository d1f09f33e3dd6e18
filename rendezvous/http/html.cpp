#include "rendezvous/http/html.h"

namespace ddprun::http {
namespace {

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '_' || c == '~';
}

}  // namespace

Html& Html::text(std::string_view text) {
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '<')
      out_ += "&lt;";
    else if (c == '>')
      out_ += "&gt;";
    else if (c == '&')
      out_ += "&amp;";
    else if (c == '"')
      out_ += "&quot;";
    else if (c == '\'')
      out_ += "&#39;";
    else if ((byte < 0x20 && c != '\n' && c != '\t') || byte == 0x7F)
      out_ += "\uFFFD";
    else
      out_ += c;
  }
  return *this;
}

Html& Html::url_segment(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  for (const char c : text) {
    if (is_plain(c)) {
      out_ += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out_ += '%';
    out_ += kDigits[byte >> 4];
    out_ += kDigits[byte & 15];
  }
  return *this;
}

}  // namespace ddprun::http
