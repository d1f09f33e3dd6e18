// Any bytes into the parser of roster frames and the decoder of their messages: nothing may crash,
// where the bytes are cut must not change what comes out, and whatever can be read can be written
// and read again. The first byte of the input says where the bytes are cut.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "rendezvous/protocol/roster_codec.h"
#include "rendezvous/protocol/roster_frames.h"

namespace {

using namespace ddprun;

// What has come out, as text.
class Session {
 public:
  void feed(std::string_view bytes) {
    if (parser_.failed()) return;
    parser_.feed(bytes);
    while (const auto frame = parser_.next()) heard_.append(*frame).append("\n");
    if (parser_.pending_bytes() > protocol::kMaxFrameBytes + 4) std::abort();
  }
  std::string result() const { return heard_ + parser_.error(); }
  const std::string& heard() const { return heard_; }

 private:
  protocol::FrameParser parser_;
  std::string heard_;
};

// The JSON of a message that was encoded.
template <class Message>
std::string written(const Message& message) {
  std::string bytes;
  protocol::encode(bytes, message);
  return bytes.substr(4);
}

template <class Decode>
void check(std::string_view json, Decode decode) {
  const auto message = decode(json);
  if (!message) {
    if (message.error().text.empty()) std::abort();
    return;
  }
  const std::string once = written(*message);
  const auto again = decode(std::string_view(once));
  if (!again || written(*again) != once) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  Session whole;
  whole.feed(bytes);
  Session cut;
  const std::size_t step = data[0] % 32 + 1;
  for (std::size_t at = 0; at < bytes.size(); at += step) cut.feed(bytes.substr(at, step));
  if (whole.result() != cut.result()) std::abort();

  std::string_view rest = whole.heard();
  while (!rest.empty()) {
    const std::string_view json = rest.substr(0, rest.find('\n'));
    check(json, protocol::decode_agent_message);
    check(json, protocol::decode_server_message);
    rest.remove_prefix(std::min(json.size() + 1, rest.size()));
  }
  return 0;
}
