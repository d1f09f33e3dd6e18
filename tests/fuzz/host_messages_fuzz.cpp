// Any bytes as what the ddprun of another host sends through ssh: where they are cut changes
// nothing, and each message that is read can be written and read again. The first byte of the input
// is the size of the pieces.
#include <cstdint>

#include "launcher/hosts/messages.h"
#include "tests/fuzz/checks.h"

namespace {

using namespace ddprun;
using fuzz::require;

// All messages, written again, and why there are no more.
std::string read(std::string_view bytes, std::size_t step) {
  hosts::Decoder decoder;
  std::string out, wrong;
  fuzz::in_pieces(bytes, step, [&](std::string_view piece) {
    if (!wrong.empty()) return;
    decoder.feed(piece);
    for (;;) {
      const auto message = decoder.next();
      if (!message) {
        wrong = message.error().text;
        require(fuzz::is_one_line(wrong));
        return;
      }
      if (!*message) return;
      out += hosts::encode(**message);
    }
  });
  return out + "|" + wrong;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes = fuzz::view_of(data + 1, size - 1);
  const std::string whole = read(bytes, bytes.size() + 1);
  require(read(bytes, 1 + data[0] % 32) == whole);
  const std::string written = whole.substr(0, whole.rfind('|'));
  if (whole.ends_with('|')) require(read(written, written.size() + 1) == whole);
  return 0;
}
