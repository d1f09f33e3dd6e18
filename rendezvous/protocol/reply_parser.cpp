#include "rendezvous/protocol/reply_parser.h"

#include <algorithm>

#include "rendezvous/protocol/little_endian.h"

namespace ddprun::protocol {

bool has_no_reply(Operation operation) {
  switch (operation) {
    case Operation::kValidate:
    case Operation::kSet:
    case Operation::kAppend:
    case Operation::kMultiSet:
    case Operation::kQueuePush:
      return true;
    default:
      return false;
  }
}

ReplyParser::ReplyParser(Operation operation, std::uint64_t keys)
    : operation_(operation), step_(Step::kNumber), values_left_(0) {
  switch (operation) {
    case Operation::kCheck:
    case Operation::kWait:
    case Operation::kBarrier:
    case Operation::kCancelWait:
      step_ = Step::kCode;
      break;
    case Operation::kPing:
      step_ = Step::kWord;
      break;
    case Operation::kMultiGet:
      values_left_ = keys;
      next_value();
      break;
    case Operation::kGet:
    case Operation::kCompareSet:
      values_left_ = 1;
      next_value();
      break;
    default:
      break;
  }
}

std::size_t ReplyParser::feed(std::string_view bytes) {
  const std::size_t size = bytes.size();
  while (step_ != Step::kDone && !failed_) {
    if (step_ == Step::kText) {
      const auto taken = std::min<std::uint64_t>(text_left_, bytes.size());
      reply_.values.back().append(bytes.substr(0, taken));
      bytes.remove_prefix(taken);
      text_left_ -= taken;
      if (text_left_ > 0) break;
      next_value();
    } else {
      const std::size_t width = step_ == Step::kCode ? 1 : step_ == Step::kWord ? 4 : 8;
      if (!take(bytes, width)) break;
      advance();
    }
  }
  return size - bytes.size();
}

bool ReplyParser::take(std::string_view& bytes, std::size_t wanted) {
  const std::size_t taken = std::min(wanted - field_.size(), bytes.size());
  field_.append(bytes.substr(0, taken));
  bytes.remove_prefix(taken);
  return field_.size() == wanted;
}

void ReplyParser::advance() {
  switch (step_) {
    case Step::kCode:
      reply_.code = field_.front();
      step_ = Step::kDone;
      break;
    case Step::kWord:
      reply_.word = load<std::uint32_t>(field_.data());
      step_ = Step::kDone;
      break;
    case Step::kNumber:
      reply_.number = load<std::int64_t>(field_.data());
      number_read();
      break;
    case Step::kLength:
      text_left_ = load<std::uint64_t>(field_.data());
      reply_.values.emplace_back();
      step_ = Step::kText;
      break;
    case Step::kText:
    case Step::kDone:
      break;
  }
  field_.clear();
}

void ReplyParser::number_read() {
  if (operation_ == Operation::kListKeys) {
    failed_ = reply_.number < 0;
    values_left_ = static_cast<std::uint64_t>(reply_.number);
  } else if (operation_ == Operation::kQueuePop) {
    values_left_ = reply_.number > 0 ? 1 : 0;
  }
  next_value();
}

void ReplyParser::next_value() {
  if (values_left_ == 0) {
    step_ = Step::kDone;
    return;
  }
  --values_left_;
  step_ = Step::kLength;
}

}  // namespace ddprun::protocol
