#include "rendezvous/protocol/request_parser.h"

#include <utility>

#include "rendezvous/protocol/little_endian.h"

namespace ddprun::protocol {
namespace {

constexpr std::size_t kLengthBytes = 8;

std::string_view take_text(const char*& at) {
  const auto length = load<std::uint64_t>(at);
  const std::string_view text(at + kLengthBytes, length);
  at += kLengthBytes + length;
  return text;
}

std::string over_limit(std::string_view what, std::uint64_t found, std::uint64_t limit,
                       std::string_view option) {
  std::string text(what);
  text += " of ";
  text += std::to_string(found);
  text += " is over the limit of ";
  text += std::to_string(limit);
  text += " (";
  text += option;
  return text + ")";
}

}  // namespace

void Items::Iterator::read() {
  if (left_ == 0) return;
  item_.key = take_text(at_);
  if (with_values_) item_.value = take_text(at_);
}

void RequestParser::feed(std::string_view bytes) {
  unread_.feed(bytes);
}

bool RequestParser::next(Request& request) {
  if (failed()) return false;
  if (!scan(unread_.view())) {
    unread_.keep();
    return false;
  }
  decode(unread_.view().substr(0, at_), request);
  if (request.operation == Operation::kValidate) {
    if (request.word != kMagic) return fail("VALIDATE carries the wrong magic number");
    validated_ = true;
  }
  unread_.use(at_);
  grammar_ = nullptr;
  return true;
}

// Returns true when the first request in `bytes` is whole; it then ends at at_.
bool RequestParser::scan(std::string_view bytes) {
  if (grammar_ == nullptr && !start(bytes)) return false;
  if (!count_known_) {
    if (bytes.size() < at_ + sizeof(std::uint64_t)) return false;
    items_left_ = load<std::uint64_t>(bytes.data() + at_);
    if (items_left_ > limits_->max_keys_per_request) {
      return fail(over_limit("a count", items_left_, limits_->max_keys_per_request,
                             "max_keys_per_request"));
    }
    at_ += sizeof(std::uint64_t);
    count_known_ = true;
  }
  for (; items_left_ > 0; --items_left_, operand_ = 0) {
    for (; operand_ < grammar_->operands.size(); ++operand_) {
      if (!scan_operand(static_cast<Operand>(grammar_->operands[operand_]), bytes)) return false;
    }
  }
  return true;
}

bool RequestParser::start(std::string_view bytes) {
  if (bytes.empty()) return false;
  const auto operation = static_cast<std::uint8_t>(bytes.front());
  const Grammar* grammar = find_grammar(operation);
  if (grammar == nullptr) return fail("there is no operation " + std::to_string(operation));
  const bool is_validate = static_cast<Operation>(operation) == Operation::kValidate;
  if (!validated_ && !is_validate) return fail("the first request is not VALIDATE");
  if (validated_ && is_validate) return fail("VALIDATE comes a second time");
  grammar_ = grammar;
  at_ = 1;
  operand_ = 0;
  items_left_ = 1;
  count_known_ = !grammar->counted;
  return true;
}

bool RequestParser::scan_operand(Operand operand, std::string_view bytes) {
  switch (operand) {
    case Operand::kNumber:
    case Operand::kWord: {
      const std::uint64_t end =
          at_ + (operand == Operand::kNumber ? sizeof(std::int64_t) : sizeof(std::uint32_t));
      if (bytes.size() < end) return false;
      at_ = end;
      return true;
    }
    case Operand::kKey:
    case Operand::kValue:
    case Operand::kDesired:
      return scan_text(operand, bytes);
  }
  return false;
}

bool RequestParser::scan_text(Operand operand, std::string_view bytes) {
  if (bytes.size() < at_ + kLengthBytes) return false;
  const auto length = load<std::uint64_t>(bytes.data() + at_);
  const bool is_key = operand == Operand::kKey;
  const std::uint64_t limit = is_key ? limits_->max_key_bytes : limits_->max_value_bytes;
  if (length > limit) {
    return fail(over_limit(is_key ? "a key length" : "a value length", length, limit,
                           is_key ? "max_key_bytes" : "max_value_bytes"));
  }
  const std::uint64_t end = at_ + kLengthBytes + length;
  if (end > limits_->max_request_bytes) {
    return fail(
        over_limit("a request length", end, limits_->max_request_bytes, "max_request_bytes"));
  }
  if (bytes.size() < end) return false;
  at_ = end;
  return true;
}

// Everything in `bytes`, one whole request, has been checked by scan().
void RequestParser::decode(std::string_view bytes, Request& request) const {
  request = Request{};
  request.operation = static_cast<Operation>(bytes.front());
  request.bytes = bytes.size();
  const char* at = bytes.data() + 1;
  if (grammar_->counted) {
    const auto count = load<std::uint64_t>(at);
    request.items = Items(count, at + sizeof(count), grammar_->operands.size() > 1);
    return;
  }
  for (const char letter : grammar_->operands) {
    switch (static_cast<Operand>(letter)) {
      case Operand::kKey:
        request.key = take_text(at);
        break;
      case Operand::kValue:
        request.value = take_text(at);
        break;
      case Operand::kDesired:
        request.desired = take_text(at);
        break;
      case Operand::kNumber:
        request.number = load<std::int64_t>(at);
        at += sizeof(std::int64_t);
        break;
      case Operand::kWord:
        request.word = load<std::uint32_t>(at);
        at += sizeof(std::uint32_t);
        break;
    }
  }
}

bool RequestParser::fail(std::string text) {
  error_ = grammar_ == nullptr ? std::move(text) : std::string(grammar_->name) + ": " + text;
  return false;
}

}  // namespace ddprun::protocol
