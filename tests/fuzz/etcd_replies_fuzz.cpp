// Any bytes as an answer of etcd, and as the place of one: what is read is no more than what was
// there, and what a place was read as is read so again.
#include <cstdint>

#include "rendezvous/etcd/messages.h"
#include "rendezvous/etcd/place.h"
#include "tests/fuzz/checks.h"

namespace {

using namespace ddprun;
using fuzz::require;

void check(const etcd::KeyValue& key, std::string_view body) {
  require(!key.key.empty() && key.create_revision > 0 && key.version > 0);
  require(key.key.size() + key.value.size() < body.size());
}

void check_answers(std::string_view body) {
  if (const auto lease = etcd::read_lease(body))
    require(lease->id != 0 && lease->life.count() >= 0);
  if (const auto list = etcd::read_listing(body))
    for (const etcd::KeyValue& each : list->keys) check(each, body);
  if (const auto outcome = etcd::read_outcome(body)) {
    require(outcome->revision > 0 && !(outcome->done && outcome->found));
    if (outcome->found) check(*outcome->found, body);
  }
  const std::string problem = etcd::read_problem(body);
  require(fuzz::is_printable(problem) && problem.size() < 2'000);
}

void check_place(std::string_view text) {
  const auto place = etcd::parse_place(text);
  if (!place) return require(!place.error().text.empty());
  std::string again = "etcd://";
  for (const Endpoint& each : place->members)
    again += (&each == place->members.data() ? "" : ",") + to_text(each);
  const auto same = etcd::parse_place(again + place->prefix);
  require(same && to_text(*same) == to_text(*place));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes = fuzz::view_of(data, size);
  check_answers(bytes);
  check_place(bytes);
  return 0;
}
