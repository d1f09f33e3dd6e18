#include "rendezvous/protocol/operations.h"

#include <array>

namespace ddprun::protocol {
namespace {

constexpr std::array<Grammar, 19> kGrammars{{
    {"VALIDATE", "w"},   {"SET", "kv"},        {"COMPARE_SET", "kvd"},   {"GET", "k"},
    {"ADD", "kn"},       {"CHECK", "k", true}, {"WAIT", "k", true},      {"GETNUMKEYS", ""},
    {"DELETE_KEY", "k"}, {"APPEND", "kv"},     {"MULTI_GET", "k", true}, {"MULTI_SET", "kv", true},
    {"CANCEL_WAIT", ""}, {"PING", "w"},        {"QUEUE_PUSH", "kv"},     {"QUEUE_POP", "k"},
    {"QUEUE_LEN", "k"},  {"LIST_KEYS", ""},    {"BARRIER", "kn"},
}};
static_assert(kGrammars.size() == static_cast<std::size_t>(Operation::kBarrier) + 1);

}  // namespace

const Grammar* find_grammar(std::uint8_t operation) {
  return operation < kGrammars.size() ? &kGrammars[operation] : nullptr;
}

std::string_view name(Operation operation) {
  return kGrammars[static_cast<std::size_t>(operation)].name;
}

}  // namespace ddprun::protocol
