#include "tests/unit/linearizability/wire.h"

#include <stdexcept>

#include "tests/unit/store/requests.h"

namespace ddprun::linearizability {

std::string encode(const Call& call) {
  const std::string& key = call.keys.front();
  switch (call.operation) {
    case Operation::kSet:
    case Operation::kAppend:
    case Operation::kQueuePush: {
      std::string out;
      protocol::encode_key_value(out, call.operation, key, call.values.front());
      return out;
    }
    case Operation::kAdd:
      return store::add(key, call.number);
    case Operation::kCompareSet:
      return store::compare_set(key, call.values[0], call.values[1]);
    case Operation::kGet:
    case Operation::kDeleteKey:
    case Operation::kQueuePop:
    case Operation::kQueueLen:
      return store::one_key(call.operation, key);
    case Operation::kCheck:
    case Operation::kWait:
    case Operation::kMultiGet:
      return store::many_keys(call.operation, call.keys);
    case Operation::kMultiSet: {
      std::vector<protocol::KeyValue> items;
      for (std::size_t i = 0; i < call.keys.size(); ++i)
        items.emplace_back(call.keys[i], call.values[i]);
      return store::multi_set(items);
    }
    default:
      throw std::logic_error("no call: " + std::string(protocol::name(call.operation)));
  }
}

Answer answer_of(Operation operation, const protocol::Reply& reply) {
  Answer answer{.number = reply.number, .values = reply.values};
  if (operation == Operation::kCheck) answer.ready = reply.code == protocol::kReady;
  if (operation == Operation::kWait) answer.ready = reply.code == protocol::kStopWaiting;
  return answer;
}

}  // namespace ddprun::linearizability
