#include "rendezvous/protocol/classify.h"

#include <array>

namespace ddprun::protocol {
namespace {

using namespace std::string_view_literals;

struct Opening {
  std::string_view bytes;
  Dialect dialect;
};

constexpr std::array kOpenings{
    Opening{"\x00\xCE\xF7\x85\x3C"sv, Dialect::kC10d},
    Opening{"DDPR"sv, Dialect::kRoster},
    Opening{"\x16\x03"sv, Dialect::kTls},
    Opening{"GET "sv, Dialect::kHttp},
    Opening{"HEAD "sv, Dialect::kHttp},
    Opening{"POST "sv, Dialect::kHttp},
    Opening{"PUT "sv, Dialect::kHttp},
    Opening{"DELETE "sv, Dialect::kHttp},
    Opening{"OPTIONS "sv, Dialect::kHttp},
    Opening{"PATCH "sv, Dialect::kHttp},
    Opening{"TRACE "sv, Dialect::kHttp},
    Opening{"CONNECT "sv, Dialect::kHttp},
};

}  // namespace

Dialect classify(std::string_view first) {
  bool possible = false;
  for (const Opening& opening : kOpenings) {
    if (first.starts_with(opening.bytes)) return opening.dialect;
    possible = possible || opening.bytes.starts_with(first);
  }
  return possible ? Dialect::kUndecided : Dialect::kOther;
}

std::string_view name(Dialect dialect) {
  switch (dialect) {
    case Dialect::kC10d:
      return "the c10d store protocol";
    case Dialect::kRoster:
      return "the roster protocol";
    case Dialect::kTls:
      return "TLS";
    case Dialect::kHttp:
      return "HTTP";
    case Dialect::kUndecided:
    case Dialect::kOther:
      break;
  }
  return "an unknown protocol";
}

}  // namespace ddprun::protocol
