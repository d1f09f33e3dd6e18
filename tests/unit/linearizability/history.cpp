#include "tests/unit/linearizability/history.h"

namespace ddprun::linearizability {
namespace {

std::string joined(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += " '" + text + "'";
  return all;
}

std::string text_of(const Answer& answer) {
  return std::to_string(answer.number) + (answer.ready ? " ready" : "") + joined(answer.values);
}

}  // namespace

std::string text_of(const Event& event) {
  const std::string end = event.answer ? std::to_string(event.returned) : "ever";
  return "client " + std::to_string(event.client) + " from " + std::to_string(event.called) +
         " to " + end + ": " + std::string(protocol::name(event.call.operation)) +
         joined(event.call.keys) + (event.call.values.empty() ? "" : " with") +
         joined(event.call.values) +
         (event.call.operation == Operation::kAdd ? " " + std::to_string(event.call.number) : "") +
         " = " + (event.answer ? text_of(*event.answer) : "no answer");
}

}  // namespace ddprun::linearizability
