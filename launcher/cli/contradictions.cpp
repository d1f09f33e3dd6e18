#include "launcher/cli/contradictions.h"

#include <algorithm>

#include "launcher/cli/values.h"

namespace ddprun::cli {
namespace {

// "--tee 3" or "PET_TEE=3": how the user wrote it.
std::string written(const std::vector<Setting>& settings, std::string_view name) {
  const auto found =
      std::ranges::find(settings, name, [](const Setting& s) { return s.option->name; });
  if (found == settings.end()) return "--" + std::string(name);
  if (found->from_variable) return found->label + "=" + found->value;
  return found->label + (found->option->takes_value() ? " " + found->value : "");
}

bool typed_or_pet(const std::vector<Setting>& settings, std::string_view name) {
  return std::ranges::any_of(settings, [&](const Setting& s) {
    return s.option->name == name && s.label != s.option->second_variable;
  });
}

// Static meeting has no rule for how long a range is waited for.
bool is_static_range(const JobSpec& job, const std::vector<Setting>& settings) {
  const auto value = [&](std::string_view name) -> std::string_view {
    const auto found =
        std::ranges::find(settings, name, [](const Setting& s) { return s.option->name; });
    return found == settings.end() ? std::string_view() : std::string_view(found->value);
  };
  const Result<NodeRange> nodes = read_nodes(value("nnodes"));
  return nodes && nodes->min < nodes->max && !job.standalone && value("rdzv-backend") != "c10d";
}

// What ddprun can do to lines only where they come through it.
std::string_view touches_lines(const JobSpec& job, const std::vector<Setting>& settings) {
  if (job.tee.any()) return "tee";
  if (job.console_ranks) return "local-ranks-filter";
  if (job.prefix && !job.prefix->empty() && typed_or_pet(settings, "log-line-prefix-template"))
    return "log-line-prefix-template";
  if (!job.duplicate_stdout_filters.empty()) return "duplicate-stdout-filters";
  if (!job.duplicate_stderr_filters.empty()) return "duplicate-stderr-filters";
  return {};
}

}  // namespace

std::string contradiction(const JobSpec& job, const std::vector<Setting>& settings) {
  const auto both = [&](std::string_view one, std::string_view other, const std::string& why) {
    return written(settings, one) + " and " + written(settings, other) + ": " + why;
  };
  if (is_static_range(job, settings))
    return both("nnodes", "rdzv-backend", "a range needs c10d, static takes one number");
  if (job.output == OutputMode::inherit) {
    if (const std::string_view name = touches_lines(job, settings); !name.empty())
      return both("output", name,
                  "inherited output does not come through ddprun; drop one of them");
  }
  if (job.stdin_rank && job.workers.kind == WorkerCount::Kind::number &&
      *job.stdin_rank >= job.workers.number) {
    return both("stdin", "nproc-per-node",
                "there are ranks 0 to " + std::to_string(job.workers.number - 1) + " only");
  }
  if (job.report && job.report == job.events)
    return both("report", "events", "they need different files, and only one can be -");
  return {};
}

}  // namespace ddprun::cli
