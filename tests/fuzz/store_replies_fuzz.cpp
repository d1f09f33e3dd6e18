// Any bytes from a server as the replies of the store to each operation: where they are cut changes
// nothing, and no length that a server claims costs memory. And any bytes as the first ones of a
// connection. The first byte of the input is the size of the pieces, the second the operation.
#include <cstdint>

#include "rendezvous/client/strangers.h"
#include "rendezvous/protocol/classify.h"
#include "rendezvous/protocol/reply_parser.h"
#include "tests/fuzz/checks.h"

namespace {

using namespace ddprun;
using fuzz::require;
using protocol::Operation;

// How one reply was read, as text.
std::string read(Operation operation, std::string_view bytes, std::size_t step) {
  protocol::ReplyParser parser(operation, 3);
  std::size_t used = 0;
  fuzz::in_pieces(bytes, step, [&](std::string_view piece) {
    if (!parser.complete() && !parser.failed()) used += parser.feed(piece);
  });
  std::string text = std::to_string(used) + (parser.complete() ? " complete" : "") +
                     (parser.failed() ? " failed" : "");
  const protocol::Reply& reply = parser.reply();
  text += " " + std::to_string(reply.number) + " " + std::to_string(reply.code) + " " +
          std::to_string(reply.word);
  std::size_t held = 0;
  for (const std::string& value : reply.values) {
    held += value.size();
    text += "\n" + value;
  }
  require(used <= bytes.size() && held <= bytes.size());
  require(8 * reply.values.size() <= bytes.size());
  return text;
}

void check_first(std::string_view bytes) {
  const protocol::Dialect dialect = protocol::classify(bytes);
  require(bytes.size() < 8 || dialect != protocol::Dialect::kUndecided);
  require(!protocol::name(dialect).empty());
  require(fuzz::is_printable(client::describe_stranger(bytes)));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string_view bytes = fuzz::view_of(data + 2, size - 2);
  const auto operation = static_cast<Operation>(data[1] % 19);
  if (!protocol::has_no_reply(operation))
    require(read(operation, bytes, bytes.size() + 1) == read(operation, bytes, 1 + data[0] % 32));
  check_first(bytes);
  return 0;
}
