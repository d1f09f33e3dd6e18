#include "launcher/plan/command.h"

#include <string_view>

namespace ddprun::plan {
namespace {

constexpr std::string_view kMacro = "${local_rank}";

void replace_macro(std::string& word, const std::string& local_rank) {
  for (auto at = word.find(kMacro); at != std::string::npos; at = word.find(kMacro, at))
    word.replace(at, kMacro.size(), local_rank);
}

}  // namespace

bool runs_python(const cli::JobSpec& job) {
  return job.module || job.run_path || (!job.no_python && job.command.front().ends_with(".py"));
}

std::vector<std::string> worker_command(const cli::JobSpec& job, const std::string& python,
                                        int local_rank) {
  const std::string number = std::to_string(local_rank);
  const bool by_python = runs_python(job);
  std::vector<std::string> argv;
  if (by_python) argv = {python, "-u"};
  if (job.module) argv.push_back("-m");
  argv.push_back(job.command.front());
  if (job.local_rank_argument == cli::LocalRankArgument::dash)
    argv.push_back("--local-rank=" + number);
  if (job.local_rank_argument == cli::LocalRankArgument::underscore)
    argv.push_back("--local_rank=" + number);
  auto argument = job.command.begin() + 1;
  const bool drop = by_python && !job.separator_before_program;
  if (drop && argument != job.command.end() && *argument == "--") ++argument;
  argv.insert(argv.end(), argument, job.command.end());
  for (std::size_t i = 1; i < argv.size(); ++i) replace_macro(argv[i], number);
  return argv;
}

}  // namespace ddprun::plan
