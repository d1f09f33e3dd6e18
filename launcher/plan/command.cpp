#include "launcher/plan/command.h"

#include <string_view>

namespace ddprun::plan {
namespace {

constexpr std::string_view kMacro = "${local_rank}";

void replace_macro(std::string& word, const std::string& local_rank) {
  for (auto at = word.find(kMacro); at != std::string::npos; at = word.find(kMacro, at))
    word.replace(at, kMacro.size(), local_rank);
}

std::string expand(std::string_view word, const WorkerPlan& worker, const std::string& host,
                   int attempt) {
  std::string text;
  for (std::size_t i = 0; i < word.size(); ++i) {
    const char field = word[i] == '%' && i + 1 < word.size() ? word[i + 1] : '\0';
    switch (field) {
      case 'r':
        text += std::to_string(worker.rank);
        break;
      case 'l':
        text += std::to_string(worker.local_rank);
        break;
      case 'h':
        text += host;
        break;
      case 'a':
        text += std::to_string(attempt);
        break;
      case '%':
        text += '%';
        break;
      default:
        text += word[i];
        continue;
    }
    ++i;
  }
  return text;
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

std::vector<std::string> wrapper_of(const cli::JobSpec& job, int rank) {
  for (const cli::Wrap& wrap : job.wraps)
    if (wrap.ranks.contains(rank)) return wrap.words;
  return {};
}

std::vector<std::string> command_line(const WorkerPlan& worker, const std::string& host,
                                      int attempt) {
  std::vector<std::string> words;
  words.reserve(worker.wrapper.size() + worker.argv.size());
  for (const std::string& word : worker.wrapper)
    words.push_back(expand(word, worker, host, attempt));
  words.insert(words.end(), worker.argv.begin(), worker.argv.end());
  return words;
}

}  // namespace ddprun::plan
