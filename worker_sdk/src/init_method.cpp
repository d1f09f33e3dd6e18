#include "worker_sdk/src/init_method.h"

#include <charconv>
#include <sstream>

#include "ddp/error.h"

namespace ddp::detail {
namespace {

// A number from 0 on, or -1.
int to_number(const std::string& text) {
  int number = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || rest != end || number < 0) return -1;
  return number;
}

class Parser {
 public:
  Parser(const std::string& text, int rank) : text_(text), rank_(rank) {}

  InitMethod parse() {
    if (text_ == "env://") return method_;
    const auto question = text_.find('?');
    if (question != std::string::npos) read_query(text_.substr(question + 1));
    const std::string url = text_.substr(0, question);
    if (url.starts_with("tcp://")) {
      read_address(url.substr(6));
    } else if (url.starts_with("file://")) {
      read_path(url.substr(7));
    } else {
      refuse("unknown init_method " + text_ + "; there are env://, tcp://HOST:PORT and " +
             "file:///PATH");
    }
    return method_;
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    throw Error(rank_, "init_process_group: " + why);
  }

  void read_query(const std::string& query) {
    std::istringstream stream(query);
    for (std::string part; std::getline(stream, part, '&');) {
      const auto equals = part.find('=');
      const std::string name = part.substr(0, equals);
      const int number = equals == std::string::npos ? -1 : to_number(part.substr(equals + 1));
      if ((name != "rank" && name != "world_size") || number < 0) {
        refuse("init_method " + text_ + ": " + part + " is neither rank=R nor world_size=W");
      }
      (name == "rank" ? method_.rank : method_.world_size) = number;
    }
  }

  void read_address(std::string address) {
    if (address.ends_with('/')) address.pop_back();
    const auto colon = address.rfind(':');
    const int port = colon == std::string::npos ? -1 : to_number(address.substr(colon + 1));
    std::string host = address.substr(0, colon);
    if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
    if (host.empty() || port < 1 || port > 65535) {
      refuse("init_method " + text_ + " is not of the form tcp://HOST:PORT (port 1 to 65535)");
    }
    method_.kind = InitMethod::Kind::kTcp;
    method_.host = host;
    method_.port = static_cast<std::uint16_t>(port);
  }

  void read_path(const std::string& path) {
    if (!path.starts_with('/') || path.ends_with('/')) {
      refuse("init_method " + text_ + " is not of the form file:///PATH, with an absolute path");
    }
    method_.kind = InitMethod::Kind::kFile;
    method_.path = path;
  }

  const std::string& text_;
  int rank_;
  InitMethod method_;
};

}  // namespace

InitMethod parse_init_method(const std::string& text, int rank) {
  return Parser(text, rank).parse();
}

}  // namespace ddp::detail
