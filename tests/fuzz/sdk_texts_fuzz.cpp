// Any bytes where the SDK reads what other processes left for it: orders of spawned processes,
// tickets, answers, descriptions of models, and the words of Gloo and of c10d.
#include <cstdint>
#include <stdexcept>

#include "ddp/error.h"
#include "tests/fuzz/checks.h"
#include "worker_sdk/src/model_signature.h"
#include "worker_sdk/src/own_sockets.h"
#include "worker_sdk/src/spawn_order.h"
#include "worker_sdk/src/text.h"
#include "worker_sdk/src/worker_environment.h"

namespace {

using namespace ddp::detail;
using ddprun::fuzz::require;

// A number that is none differs from itself.
bool same(const std::vector<SpawnValue>& some, const std::vector<SpawnValue>& others) {
  return std::ranges::equal(some, others, [](const SpawnValue& one, const SpawnValue& other) {
    const bool floating =
        std::holds_alternative<double>(one) || std::holds_alternative<long double>(one);
    return one.index() == other.index() && (floating || one == other);
  });
}

void check_order(const std::string& bytes) {
  try {
    const SpawnOrder order = decode(bytes);
    const SpawnOrder again = decode(encode(order));
    require(again.worker == order.worker && same(again.arguments, order.arguments));
  } catch (const std::runtime_error& error) {
    require(ddprun::fuzz::is_one_line(error.what()));
  }
  if (const auto reason = read_reason(bytes)) {
    const auto again = read_reason(to_text(*reason));
    require(again && again->at == reason->at && again->text == reason->text);
  }
}

void check_environment(const std::string& text) {
  const Lookup lookup = [&](const std::string&) { return text; };
  const auto ticket = read_ticket(lookup, 7);
  require(!ticket || (ticket->parent == 7 && ticket->rank >= 0 && ticket->order_fd >= 0));
  try {
    const WorkerEnvironment found = read_worker_environment(lookup, -1, -1);
    require(found.rank >= 0 && found.rank < found.world_size && found.master_port != 0);
  } catch (const ddp::Error& error) {
    require(*error.what() != '\0');
  }
}

void check_models(const std::string& text) {
  const std::string one = text.substr(0, text.size() / 2), other = text.substr(text.size() / 2);
  require(!first_difference({one, one}, {0, 1}));
  if (const auto difference = first_difference({one, other}, {4, 6})) require(!difference->empty());
}

void check_words(const std::string& text) {
  const std::string address = address_in(text);
  require(address.empty() || address.starts_with('['));
  with_swapped_port(text);
  is_late_peer(text);
  is_failed_barrier(text);
  for (const int member : missing_at_barrier(text)) require(member >= 0);
  require(!explain_gloo(text, {1, 2}).empty() || text.empty());
  explain_unused(text, {{0, "a"}, {1, "b"}}, true);
  with_global_ranks(text, {5, 7});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(ddprun::fuzz::view_of(data, size));
  check_order(text);
  check_environment(text);
  check_models(text);
  check_words(text);
  return 0;
}
