// Any bytes into the request parser and the store: nothing may crash, and where the bytes are cut
// must not change the replies. The first byte of the input says where they are cut.
#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "rendezvous/protocol/request_parser.h"
#include "rendezvous/store/store.h"

namespace {

using namespace ddprun;

constexpr store::ClientId kClient = 1;

// The replies, and how it ended.
class Session {
 public:
  void feed(std::string_view bytes) {
    if (ended_) return;
    parser_.feed(bytes);
    protocol::Request request;
    while (parser_.next(request)) {
      std::vector<store::ClientId> woken;
      const auto refusal = store_.apply(kClient, request, replies_, woken);
      for (std::size_t i = 0; i < woken.size(); ++i) replies_.add_code(protocol::kStopWaiting);
      if (refusal) return end(*refusal);
    }
    if (parser_.failed()) end(parser_.error());
  }

  std::string result() {
    std::string text = end_ + "\n";
    std::array<iovec, 1> part;
    while (replies_.gather(part) > 0) {
      text.append(static_cast<const char*>(part[0].iov_base), part[0].iov_len);
      replies_.consume(part[0].iov_len);
    }
    store_.forget(kClient);
    if (store_.waiting() != 0) std::abort();
    return text + std::to_string(store_.keys()) + "," + std::to_string(store_.memory_bytes());
  }

 private:
  void end(const std::string& why) {
    ended_ = true;
    end_ = why;
  }

  protocol::Limits limits_;
  protocol::RequestParser parser_{limits_};
  store::Store store_{{1 << 20, 1'000}};
  protocol::ReplyBuffer replies_;
  bool ended_ = false;
  std::string end_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::size_t step = 1 + data[0] % 32;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  Session whole;
  whole.feed(bytes);
  Session pieces;
  for (std::size_t at = 0; at < bytes.size(); at += step) pieces.feed(bytes.substr(at, step));
  if (whole.result() != pieces.result()) std::abort();
  return 0;
}
