#include "rendezvous/store/store.h"

#include <cerrno>
#include <cstdlib>
#include <utility>

namespace ddprun::store {
namespace {

using protocol::Item;
using protocol::Operation;
using protocol::Value;

// What a name, a queued item and a waiter cost beside their texts: list and hash nodes, allocation
// headers.
constexpr std::uint64_t kNameCost = 192;
constexpr std::uint64_t kItemCost = 96;
constexpr std::uint64_t kWaiterCost = 96;

// A value's memory is used again for a new value of about its size.
bool fits(const std::string& memory, std::size_t size) {
  return size <= memory.capacity() && memory.capacity() <= 2 * size + 256;
}

// As std::stoll, which PyTorch uses: leading blanks, a sign and trailing text are accepted.
std::optional<std::int64_t> parse_number(const std::string& text) {
  char* end = nullptr;
  errno = 0;
  const long long number = std::strtoll(text.c_str(), &end, 10);
  if (end == text.c_str() || errno == ERANGE) return std::nullopt;
  return number;
}

std::int64_t wrapping_sum(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

}  // namespace

std::optional<std::string> Store::apply(ClientId client, const protocol::Request& request,
                                        protocol::ReplyBuffer& reply,
                                        std::vector<ClientId>& woken) {
  Call call{client, request, reply, woken, std::nullopt};
  dispatch(call);
  reply.end_reply();
  return std::move(call.refusal);
}

void Store::dispatch(Call& call) {
  const protocol::Request& request = call.request;
  switch (request.operation) {
    case Operation::kValidate:
      return;
    case Operation::kSet:
      return set(call);
    case Operation::kCompareSet:
      return compare_set(call);
    case Operation::kGet:
      return call.reply.add_value(value_of(request.key));
    case Operation::kAdd:
      return add(call);
    case Operation::kCheck:
      return check(call);
    case Operation::kWait:
      return wait(call);
    case Operation::kGetNumKeys:
      return call.reply.add_number(static_cast<std::int64_t>(keys_));
    case Operation::kDeleteKey:
      return delete_key(call);
    case Operation::kAppend:
      return append(call);
    case Operation::kMultiGet:
      for (const Item& item : request.items) call.reply.add_value(value_of(item.key));
      return;
    case Operation::kMultiSet:
      return multi_set(call);
    case Operation::kCancelWait:
      forget(call.client);
      return call.reply.add_code(protocol::kWaitCanceled);
    case Operation::kPing:
      return call.reply.add_word(request.word);
    case Operation::kQueuePush:
      return queue_push(call);
    case Operation::kQueuePop:
      return queue_pop(call);
    case Operation::kQueueLen:
      return call.reply.add_number(static_cast<std::int64_t>(queue_length(request.key)));
    case Operation::kListKeys:
      return list_keys(call);
    case Operation::kBarrier:
      return barrier(call);
  }
}

void Store::forget(ClientId client) {
  const auto found = waits_.find(client);
  if (found == waits_.end()) return;
  for (const Place& place : found->second.places) {
    if (place.entry == nullptr) continue;
    place.list->erase(place.waiter);
    memory_ -= kWaiterCost;
    drop_if_empty(*place.entry);
  }
  waits_.erase(found);
}

void Store::set(Call& call) {
  const protocol::Request& request = call.request;
  if (!has_room(call, kNameCost + request.key.size() + request.value.size(), 1)) return;
  Entry& entry = obtain(request.key);
  assign(entry, request.value);
  written(entry, call.woken);
}

void Store::compare_set(Call& call) {
  const protocol::Request& request = call.request;
  Entry* entry = find(request.key);
  const bool there = entry != nullptr && entry->second.value != nullptr;
  if (there ? *entry->second.value != request.value : !request.value.empty()) {
    if (there) return call.reply.add_value(entry->second.value);
    // Not an error and not empty: PyTorch tells the caller what it expected.
    return call.reply.add_text(request.value);
  }
  if (!has_room(call, kNameCost + request.key.size() + request.desired.size(), 1)) return;
  Entry& target = obtain(request.key);
  assign(target, request.desired);
  call.reply.add_text(request.desired);
  if (!there) written(target, call.woken);
}

void Store::add(Call& call) {
  const protocol::Request& request = call.request;
  Entry* there = find(request.key);
  const std::optional<std::int64_t> before = number_in(there, call);
  if (!before || !has_room(call, kNameCost + request.key.size(), 1)) return;
  const std::int64_t sum = wrapping_sum(*before, request.number);
  Entry& entry = there == nullptr ? obtain(request.key) : *there;
  assign(entry, std::to_string(sum));
  call.reply.add_number(sum);
  written(entry, call.woken);
}

void Store::check(Call& call) {
  for (const Item& item : call.request.items) {
    if (!exists(item.key)) return call.reply.add_code(protocol::kNotReady);
  }
  call.reply.add_code(protocol::kReady);
}

void Store::wait(Call& call) {
  forget(call.client);
  const std::uint64_t names = call.request.items.size();
  if (!has_room(call, names * (kNameCost + kWaiterCost) + call.request.bytes)) return;
  Wait* parked = nullptr;
  for (const Item& item : call.request.items) {
    if (exists(item.key)) continue;
    if (parked == nullptr) parked = &(waits_[call.client] = Wait{call.client, 0, {}});
    Entry& entry = obtain(item.key);
    // A name given twice: this client was the last one to come.
    const Waiters& waiters = entry.second.waiters;
    if (!waiters.empty() && waiters.back().wait == parked) continue;
    park(*parked, entry, entry.second.waiters);
  }
  if (parked == nullptr) call.reply.add_code(protocol::kStopWaiting);
}

void Store::delete_key(Call& call) {
  Entry* entry = find(call.request.key);
  const bool there = entry != nullptr && entry->second.value != nullptr;
  if (there) {
    memory_ -= entry->second.value->size();
    entry->second.value = nullptr;
    --keys_;
    drop_if_empty(*entry);
  }
  call.reply.add_number(there ? 1 : 0);
}

void Store::append(Call& call) {
  const protocol::Request& request = call.request;
  if (!has_room(call, kNameCost + request.key.size() + request.value.size(), 1)) return;
  Entry& entry = obtain(request.key);
  std::shared_ptr<std::string>& value = entry.second.value;
  if (value == nullptr) {
    assign(entry, request.value);
  } else {
    // A reply that is still being sent keeps the value that it was given.
    if (value.use_count() > 1) value = std::make_shared<std::string>(*value);
    value->append(request.value);
    memory_ += request.value.size();
  }
  written(entry, call.woken);
}

void Store::multi_set(Call& call) {
  const std::uint64_t items = call.request.items.size();
  if (!has_room(call, items * kNameCost + call.request.bytes, items)) return;
  for (const Item& item : call.request.items) {
    Entry& entry = obtain(item.key);
    assign(entry, item.value);
    written(entry, call.woken);
  }
}

void Store::queue_push(Call& call) {
  const protocol::Request& request = call.request;
  if (!has_room(call, kNameCost + kItemCost + request.key.size() + request.value.size())) return;
  Entry& entry = obtain(request.key);
  entry.second.queue.push_back(std::make_shared<const std::string>(request.value));
  memory_ += kItemCost + request.value.size();
  strike_first(entry.second.waiters, call.woken);
}

void Store::queue_pop(Call& call) {
  const std::size_t length = queue_length(call.request.key);
  call.reply.add_number(static_cast<std::int64_t>(length));
  if (length == 0) return;
  Entry* entry = find(call.request.key);
  std::list<Value>& queue = entry->second.queue;
  call.reply.add_value(queue.front());
  memory_ -= kItemCost + queue.front()->size();
  queue.pop_front();
  drop_if_empty(*entry);
}

void Store::list_keys(Call& call) {
  call.reply.add_number(static_cast<std::int64_t>(keys_));
  for (const auto& [key, name] : names_) {
    if (name.value != nullptr) call.reply.add_text(key);
  }
}

// The counter is an ordinary key that is never taken back, so a barrier's name serves once.
void Store::barrier(Call& call) {
  const protocol::Request& request = call.request;
  const std::optional<std::int64_t> before = number_in(find(request.key), call);
  if (!before || !has_room(call, kNameCost + kWaiterCost + request.key.size(), 1)) return;
  forget(call.client);
  const std::int64_t arrived = wrapping_sum(*before, 1);
  Entry& entry = obtain(request.key);
  assign(entry, std::to_string(arrived));
  if (arrived >= request.number) {
    call.reply.add_code(protocol::kStopWaiting);
    written(entry, call.woken);
    return;
  }
  Wait& wait = waits_[call.client] = Wait{call.client, 0, {}};
  park(wait, entry, entry.second.at_barrier);
}

Store::Entry* Store::find(std::string_view key) {
  const auto found = names_.find(key);
  return found == names_.end() ? nullptr : &*found;
}

Value Store::value_of(std::string_view key) {
  const Entry* entry = find(key);
  return entry == nullptr ? nullptr : entry->second.value;
}

bool Store::exists(std::string_view key) {
  const Entry* entry = find(key);
  return entry != nullptr && (entry->second.value != nullptr || !entry->second.queue.empty());
}

std::size_t Store::queue_length(std::string_view key) {
  const Entry* entry = find(key);
  return entry == nullptr ? 0 : entry->second.queue.size();
}

Store::Entry& Store::obtain(std::string_view key) {
  if (Entry* entry = find(key)) return *entry;
  memory_ += kNameCost + key.size();
  return *names_.emplace(key, Name{}).first;
}

void Store::assign(Entry& entry, std::string_view value) {
  std::shared_ptr<std::string>& current = entry.second.value;
  memory_ += value.size();
  if (current == nullptr) {
    ++keys_;
    current = std::make_shared<std::string>(value);
    return;
  }
  memory_ -= current->size();
  if (current.use_count() == 1 && fits(*current, value.size())) {
    current->assign(value);
  } else {
    current = std::make_shared<std::string>(value);
  }
}

void Store::drop_if_empty(Entry& entry) {
  const Name& name = entry.second;
  if (name.value != nullptr || !name.queue.empty()) return;
  if (!name.waiters.empty() || !name.at_barrier.empty()) return;
  memory_ -= kNameCost + entry.first.size();
  names_.erase(names_.find(entry.first));
}

void Store::refuse(Call& call, std::string_view why) {
  call.refusal = std::string(protocol::name(call.request.operation)) + ": " + std::string(why);
}

bool Store::has_room(Call& call, std::uint64_t bytes, std::uint64_t keys) {
  if (memory_ + bytes > limits_.max_memory_bytes) {
    refuse(call, "the store would hold " + std::to_string(memory_ + bytes) +
                     " bytes, over the limit of " + std::to_string(limits_.max_memory_bytes) +
                     " (max_memory_bytes)");
    return false;
  }
  // A key that is there already may be written however full the store is.
  if (keys_ + keys > limits_.max_keys && keys > 0 &&
      (keys > 1 || value_of(call.request.key) == nullptr)) {
    refuse(call, "the store would hold " + std::to_string(keys_ + keys) +
                     " keys, over the limit of " + std::to_string(limits_.max_keys) +
                     " (max_keys)");
    return false;
  }
  return true;
}

// The number that the key of `entry` holds as text, 0 if there is no such key.
std::optional<std::int64_t> Store::number_in(const Entry* entry, Call& call) {
  if (entry == nullptr || entry->second.value == nullptr) return 0;
  const std::optional<std::int64_t> number = parse_number(*entry->second.value);
  if (!number) refuse(call, "the key holds a text that is no 64-bit number");
  return number;
}

void Store::park(Wait& wait, Entry& entry, Waiters& list) {
  list.push_back({&wait, wait.places.size()});
  wait.places.push_back({&entry, &list, std::prev(list.end())});
  ++wait.missing;
  memory_ += kWaiterCost;
}

void Store::strike(Waiters& list, std::vector<ClientId>& woken) {
  while (!list.empty()) strike_first(list, woken);
}

// One name less to wait for; the last one wakes the client.
void Store::strike_first(Waiters& list, std::vector<ClientId>& woken) {
  if (list.empty()) return;
  const auto [wait, place] = list.front();
  list.pop_front();
  memory_ -= kWaiterCost;
  wait->places[place].entry = nullptr;
  if (--wait->missing > 0) return;
  woken.push_back(wait->client);
  waits_.erase(wait->client);
}

void Store::written(Entry& entry, std::vector<ClientId>& woken) {
  strike(entry.second.waiters, woken);
  strike(entry.second.at_barrier, woken);
}

}  // namespace ddprun::store
