#include "launcher/cluster/variables.h"

#include <charconv>

namespace ddprun::cluster {

std::optional<Sourced<std::string>> text_of(const Variables& variables, VariableNames names) {
  for (const std::string_view name : names) {
    const auto value = variables(name);
    if (value && !value->empty())
      return Sourced<std::string>{std::string(*value), std::string(name)};
  }
  return std::nullopt;
}

std::optional<std::uint64_t> digits_of(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

Result<std::optional<Sourced<int>>> number_of(const Variables& variables, VariableNames names,
                                              int lowest, int highest) {
  const auto text = text_of(variables, names);
  if (!text) return std::optional<Sourced<int>>();
  const auto value = digits_of(text->value);
  if (!value || *value < static_cast<std::uint64_t>(lowest) ||
      *value > static_cast<std::uint64_t>(highest)) {
    return Error{text->source + "='" + text->value + "' is not a number from " +
                 std::to_string(lowest) + " to " + std::to_string(highest)};
  }
  return std::optional(Sourced<int>{static_cast<int>(*value), text->source});
}

std::string shown(const Sourced<int>& number) {
  return number.source + "=" + std::to_string(number.value);
}

std::string shown(const Sourced<std::string>& text) {
  return text.source + "=" + text.value;
}

Result<Allocation> read(Engine engine, const Variables& variables) {
  switch (engine) {
    case Engine::slurm:
      return read_slurm(variables);
    case Engine::kubernetes:
      return read_kubernetes(variables);
    case Engine::mpi:
      return read_mpi(variables);
    case Engine::hosts:
      return read_hosts(variables);
    case Engine::none:
      break;
  }
  return Allocation{};
}

std::string_view name_of(Engine engine) {
  switch (engine) {
    case Engine::slurm:
      return "slurm";
    case Engine::kubernetes:
      return "kubernetes";
    case Engine::mpi:
      return "mpi";
    case Engine::hosts:
      return "hosts";
    case Engine::none:
      break;
  }
  return "none";
}

}  // namespace ddprun::cluster
