#include "launcher/plan/dry_run.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "launcher/plan/command.h"
#include "launcher/plan/place.h"
#include "launcher/plan/rendezvous_text.h"
#include "launcher/plan/wording.h"
#include "launcher/plan/worker_environment.h"

namespace ddprun::plan {
namespace {

constexpr std::size_t kMostRows = 40;
constexpr std::size_t kFirstRows = 32;
constexpr std::size_t kLastRows = 4;
using Row = std::vector<std::string>;

bool is_bound(const LaunchPlan& plan) {
  return std::ranges::any_of(plan.workers,
                             [](const WorkerPlan& worker) { return worker.binding.has_value(); });
}

Row row_of(const WorkerPlan& worker, bool with_cpus) {
  Row row{std::to_string(worker.rank), std::to_string(worker.local_rank), device_text(worker)};
  if (with_cpus) {
    const std::string cpus = cpus_text(worker);
    row.push_back(cpus.empty() ? "not bound" : cpus);
    row.push_back(cpus.empty() ? "-" : placement::range_text(worker.binding->nodes));
  }
  if (!worker.gpu) {
    row.insert(row.end(), {"-", ""});
    return row;
  }
  const devices::Gpu& gpu = *worker.gpu;
  row.push_back(std::to_string(gpu.index));
  row.push_back(gpu.name + (gpu.pci_address.empty() ? "" : ", " + gpu.pci_address) +
                (gpu.uuid.starts_with("MIG-") ? ", " + gpu.uuid : ""));
  return row;
}

std::string line_of(const Row& row, const std::vector<std::size_t>& widths) {
  std::string line = " ";
  for (std::size_t i = 0; i < row.size(); ++i) {
    std::string cell = row[i];
    const bool last = i + 1 == row.size();
    if (!last) cell.insert(0, widths[i] - std::min(widths[i], cell.size()), ' ');
    line += " " + cell + (last ? "" : " ");
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

std::string table_of(const LaunchPlan& plan) {
  const bool with_cpus = is_bound(plan);
  Row heads{"rank", "local rank", "device"};
  if (with_cpus) heads.insert(heads.end(), {"CPUs", "NUMA node"});
  heads.insert(heads.end(), {"GPU id", "GPU"});
  std::vector<Row> rows;
  for (const WorkerPlan& worker : plan.workers) rows.push_back(row_of(worker, with_cpus));
  std::vector<std::size_t> widths(heads.size());
  for (std::size_t i = 0; i < heads.size(); ++i) {
    widths[i] = heads[i].size();
    for (const Row& row : rows) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text = line_of(heads, widths);
  const bool cut = rows.size() > kMostRows;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (cut && i == kFirstRows) {
      text += "  ... " + count_text(rows.size() - kFirstRows - kLastRows, "more rank") + "\n";
      i = rows.size() - kLastRows;
    }
    text += line_of(rows[i], widths);
  }
  return text;
}

// As a shell would need it.
std::string quoted(const std::string& word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

std::string line_of_words(const std::vector<std::string>& words) {
  std::string text = " ";
  for (const std::string& word : words) text += " " + quoted(word);
  return text + "\n";
}

// The command of rank 0, and one for each other wrapper.
std::string command_of(const LaunchPlan& plan) {
  const WorkerPlan& first = plan.workers.front();
  const bool differs = first.argv != plan.workers.back().argv;
  std::vector<const std::vector<std::string>*> wrappers{&first.wrapper};
  std::string others;
  for (const WorkerPlan& worker : plan.workers) {
    const auto same = [&](const auto* wrapper) { return *wrapper == worker.wrapper; };
    if (std::ranges::any_of(wrappers, same)) continue;
    wrappers.push_back(&worker.wrapper);
    others += "command of rank " + std::to_string(worker.rank) + ":\n" +
              line_of_words(command_line(worker, plan.host, 0));
  }
  return "command" + std::string(differs || !others.empty() ? " (of rank 0)" : "") + ":\n" +
         line_of_words(command_line(first, plan.host, 0)) + others;
}

// One variable of a worker, as far as it is known before the start.
std::string variable_line(const LaunchPlan& plan, std::string entry) {
  const std::string_view name = cli::variable_name(entry);
  if (plan.rendezvous.several_nodes() && given_by_rendezvous(name))
    entry = std::string(name) + "=(given by the rendezvous)";
  if (entry == "MASTER_PORT=0") entry = "MASTER_PORT=(chosen at the start)";
  if (entry == "TORCHELASTIC_RUN_ID=") entry = "TORCHELASTIC_RUN_ID=(made at the start)";
  return "  " + entry + "\n";
}

std::string environment_of(const LaunchPlan& plan, const Meeting& meeting,
                           const cli::Environment& parent) {
  const WorkerEnvironment environment(plan, meeting, parent);
  std::string text = "environment of every worker:\n";
  for (const std::string& entry : environment.added()) text += variable_line(plan, entry);
  text += "environment of rank 0:\n";
  for (const std::string& entry : environment.own(plan.workers.front(), "(in the run's directory)"))
    text += variable_line(plan, entry);
  return text;
}

}  // namespace

std::string dry_run_table(const LaunchPlan& plan, const Meeting& meeting,
                          const cli::Environment& parent) {
  std::string text = rendezvous_text(plan.rendezvous) + plan.start_line + "\n" + table_of(plan);
  for (const std::string& line : plan.binding_report) text += line + "\n";
  text += command_of(plan) + environment_of(plan, meeting, parent);
  for (const std::string& notice : plan.notices) text += "note: " + notice + "\n";
  return text + "dry run: nothing was started\n";
}

}  // namespace ddprun::plan
