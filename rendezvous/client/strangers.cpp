#include "rendezvous/client/strangers.h"

#include <algorithm>

namespace ddprun::client {
namespace {

constexpr std::size_t kShown = 40;

// The first line, as far as it can be read.
std::string first_line(std::string_view bytes) {
  bytes = bytes.substr(0, bytes.find_first_of("\r\n"));
  std::string text(bytes.substr(0, kShown));
  for (char& c : text)
    if (c < ' ' || c > '~') c = '?';
  return text + (bytes.size() > kShown ? "…" : "");
}

}  // namespace

std::string describe_stranger(std::string_view bytes) {
  const bool tls =
      bytes.size() >= 2 && (bytes[0] == '\x15' || bytes[0] == '\x16') && bytes[1] == '\x03';
  if (tls) return "a program that wants TLS";
  const std::string answer = " (it answers '" + first_line(bytes) + "')";
  // Without a status line where it takes the request for one of HTTP/0.9, as Python's does.
  if (bytes.starts_with("HTTP/") || bytes.starts_with("<!DOCTYPE ")) return "a web server" + answer;
  if (bytes.starts_with("SSH-")) return "an SSH server" + answer;
  return "a program that is neither ddprun nor rdzvd" + answer;
}

}  // namespace ddprun::client
