#include "tests/unit/linearizability/sequential_store.h"

#include <algorithm>
#include <stdexcept>

namespace ddprun::linearizability {

std::optional<Answer> SequentialStore::apply(const Call& call) {
  const std::string& key = call.keys.front();
  switch (call.operation) {
    case Operation::kSet:
    case Operation::kMultiSet:
      for (std::size_t i = 0; i < call.keys.size(); ++i) keys_[call.keys[i]] = call.values[i];
      return Answer{};
    case Operation::kAppend:
      keys_[key] += call.values.front();
      return Answer{};
    case Operation::kAdd:
      return add(call);
    case Operation::kCompareSet:
      return compare_set(call);
    case Operation::kGet:
    case Operation::kMultiGet: {
      Answer answer;
      for (const std::string& each : call.keys) answer.values.push_back(value(each));
      return answer;
    }
    case Operation::kCheck:
      return Answer{.ready = all_exist(call)};
    case Operation::kWait:
      return all_exist(call) ? std::optional(Answer{.ready = true}) : std::nullopt;
    case Operation::kDeleteKey:
      return Answer{.number = static_cast<std::int64_t>(keys_.erase(key))};
    case Operation::kQueuePush:
      queues_[key].push_back(call.values.front());
      return Answer{};
    case Operation::kQueuePop:
      return pop(key);
    case Operation::kQueueLen: {
      const auto queue = queues_.find(key);
      return Answer{
          .number = queue == queues_.end() ? 0 : static_cast<std::int64_t>(queue->second.size())};
    }
    default:
      throw std::logic_error("the check does not know " +
                             std::string(protocol::name(call.operation)));
  }
}

std::string SequentialStore::text() const {
  // Each text with its length in front, so that no two stores have the same.
  std::string all;
  const auto add = [&](const std::string& text) {
    all += std::to_string(text.size()) + ":" + text;
  };
  for (const auto& [key, value] : keys_) {
    all += 'k';
    add(key);
    add(value);
  }
  for (const auto& [name, items] : queues_) {
    all += 'q';
    add(name);
    for (const std::string& item : items) add(item);
  }
  return all;
}

bool SequentialStore::exists(const std::string& key) const {
  return keys_.contains(key) || queues_.contains(key);
}

bool SequentialStore::all_exist(const Call& call) const {
  return std::ranges::all_of(call.keys, [&](const std::string& key) { return exists(key); });
}

std::string SequentialStore::value(const std::string& key) const {
  const auto found = keys_.find(key);
  return found == keys_.end() ? "" : found->second;
}

Answer SequentialStore::add(const Call& call) {
  const std::string& key = call.keys.front();
  const std::int64_t sum = (keys_.contains(key) ? std::stoll(keys_[key]) : 0) + call.number;
  keys_[key] = std::to_string(sum);
  return {.number = sum};
}

Answer SequentialStore::compare_set(const Call& call) {
  const std::string &key = call.keys.front(), &expected = call.values[0];
  if (!keys_.contains(key)) {
    if (!expected.empty()) return {.values = {expected}};
    keys_[key] = call.values[1];
  } else if (keys_[key] == expected) {
    keys_[key] = call.values[1];
  }
  return {.values = {keys_[key]}};
}

Answer SequentialStore::pop(const std::string& name) {
  const auto found = queues_.find(name);
  if (found == queues_.end()) return {};
  std::deque<std::string>& queue = found->second;
  Answer answer{.number = static_cast<std::int64_t>(queue.size()), .values = {queue.front()}};
  queue.pop_front();
  if (queue.empty()) queues_.erase(found);
  return answer;
}

}  // namespace ddprun::linearizability
