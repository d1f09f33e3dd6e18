#include "tests/unit/linearizability/workload.h"

namespace ddprun::linearizability {
namespace {

const std::string kCounters[] = {"/count/0", "/count/1"};
const std::string kText = "/text", kQueue = "/queue";
const std::vector<std::string> kPair{"/pair/0", "/pair/1"};

}  // namespace

Workload::Workload(unsigned seed, std::size_t client)
    : random_(static_cast<std::mt19937::result_type>(seed * 1000 + client)), client_(client) {}

Call Workload::next() {
  switch (random_() % 5) {
    case 0:
      return on_text();
    case 1:
      return on_queue();
    case 2:
      return on_pair();
    default:
      return on_counter();
  }
}

std::string Workload::new_value() {
  return std::to_string(1'000 * (client_ + 1) + static_cast<std::size_t>(++values_));
}

Call Workload::on_counter() {
  const std::string& key = kCounters[random_() % 2];
  switch (random_() % 10) {
    case 0:
      return {Operation::kSet, {key}, {new_value()}};
    case 1:
      return {Operation::kDeleteKey, {key}};
    case 2:
      return {Operation::kWait, {key}};
    case 3:
      return {Operation::kCheck, {key}};
    case 4:
    case 5:
      return {Operation::kGet, {key}};
    default:
      return {.operation = Operation::kAdd,
              .keys = {key},
              .number = static_cast<std::int64_t>(random_() % 5)};
  }
}

Call Workload::on_text() {
  switch (random_() % 8) {
    case 0:
    case 1:
      return {Operation::kSet, {kText}, {"x"}};
    case 2:
      return {Operation::kAppend, {kText}, {"+" + new_value()}};
    case 3:
    case 4:
    case 5:
      return {Operation::kCompareSet, {kText}, {random_() % 2 ? "x" : "", new_value()}};
    case 6:
      return {Operation::kDeleteKey, {kText}};
    default:
      return {Operation::kGet, {kText}};
  }
}

Call Workload::on_queue() {
  switch (random_() % 7) {
    case 0:
    case 1:
      return {Operation::kQueuePush, {kQueue}, {new_value()}};
    case 2:
    case 3:
    case 4:
      return {Operation::kQueuePop, {kQueue}};
    case 5:
      return {Operation::kQueueLen, {kQueue}};
    default:
      return {Operation::kCheck, {kQueue}};
  }
}

Call Workload::on_pair() {
  switch (random_() % 4) {
    case 0:
      return {Operation::kMultiSet, kPair, {new_value(), new_value()}};
    case 1:
      return {Operation::kDeleteKey, {kPair[random_() % 2]}};
    case 2:
      return {Operation::kCheck, kPair};
    default:
      return {Operation::kMultiGet, kPair};
  }
}

}  // namespace ddprun::linearizability
