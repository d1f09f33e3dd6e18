#include "launcher/cli/parse.h"

#include "launcher/cli/completion.h"
#include "launcher/cli/contradictions.h"
#include "launcher/cli/help.h"
#include "launcher/cli/merge.h"
#include "launcher/cli/program_slip.h"
#include "launcher/cli/scanner.h"
#include "launcher/cli/values.h"
#include "launcher/cli/version.h"

namespace ddprun::cli {
namespace {

constexpr std::string_view kNotYet = " is not available yet in this version of ddprun";

Exit usage_error(const std::string& text) {
  return {2, "", "ddprun: " + one_line(text) + "\n"};
}

std::string not_yet_text(const Setting& setting) {
  if (setting.from_variable) return setting.label + "=" + setting.value + std::string(kNotYet);
  return setting.label + std::string(kNotYet);
}

// What is wrong with one setting; empty when it was taken.
std::string apply_setting(const Setting& setting, Settings& settings) {
  const Option& option = *setting.option;
  if (option.apply == nullptr) return not_yet_text(setting);
  if (!option.free_text) {
    if (const auto slip = find_slip(setting.value)) {
      const std::string wanted = option.takes_value() ? std::string(option.metavar) : "0 or 1";
      return setting.label + ": " + *slip + (setting.value.empty() ? "; write " + wanted : "");
    }
  }
  settings.label = setting.label;
  settings.written = written(setting);
  settings.optional_text = setting.label == option.second_variable;
  const Reading reading = option.apply(setting.value, settings);
  switch (reading.kind) {
    case Reading::Kind::taken:
      return {};
    case Reading::Kind::wrong:
      return setting.label + ": " + reading.text;
  }
  return {};
}

Exit print_and_exit(const Given& given) {
  if (given.option->name == "help") return {0, help_text(), ""};
  if (given.option->name == "version") return {0, "ddprun " + std::string(version()) + "\n", ""};
  const std::optional<Shell> shell = shell_named(given.value);
  if (shell) return {0, completion_script(*shell), ""};
  constexpr std::string_view kShells[] = {"bash", "zsh", "fish", "tcsh"};
  return usage_error("--print-completion: " + not_a_choice(given.value, kShells));
}

// -q on the command line beats PET_VERBOSE, and the other way round.
void prefer_typed_verbosity(std::vector<Setting>& settings) {
  const auto is_verbosity = [](const Setting& s) {
    return s.option->name == "quiet" || s.option->name == "verbose";
  };
  bool typed = false;
  for (const Setting& s : settings) typed = typed || (is_verbosity(s) && !s.from_variable);
  if (typed)
    std::erase_if(settings, [&](const Setting& s) { return is_verbosity(s) && s.from_variable; });
}

// LOGLEVEL is how torchrun is asked to say more. Other programs read it too, so what is not known
// is left to them.
void heed_log_level(const std::vector<Setting>& settings, const Environment& environment,
                    JobSpec& job) {
  for (const Setting& setting : settings)
    if (setting.option->name == "quiet" || setting.option->name == "verbose") return;
  const auto level = environment.get("LOGLEVEL");
  if (level == "INFO" || level == "DEBUG") job.verbosity = Verbosity::verbose;
}

std::string check_command(const JobSpec& job) {
  if (job.doctor && job.command.empty()) return {};
  if (job.command.empty())
    return "no program was given; write ddprun [options] PROGRAM [arguments...], see ddprun --help";
  if (const auto slip = program_slip(job.command.front());
      slip && (!job.separator_before_program || job.command.front().empty()))
    return *slip;
  if (job.module && job.no_python)
    return "--module and --no-python exclude each other: a module needs Python";
  return {};
}

}  // namespace

std::variant<JobSpec, Exit> parse(const std::vector<std::string>& words,
                                  const Environment& environment) {
  Result<Scan> scanned = scan(words);
  if (!scanned) return usage_error(scanned.error().text);
  if (!scanned->options.empty() && scanned->options.back().option->ends_the_scan())
    return print_and_exit(scanned->options.back());
  std::vector<Setting> given = merge(scanned->options, environment);
  prefer_typed_verbosity(given);
  Settings settings;
  settings.job.notices = drop_meaningless(given);
  for (const Setting& setting : given) {
    const std::string error = apply_setting(setting, settings);
    if (!error.empty()) return usage_error(error);
  }
  // This ddprun was started by another one.
  if (environment.get(cluster::kHostsRank))
    settings.rendezvous.engine =
        Said<cluster::Engine>{cluster::Engine::hosts, "--hosts", "--hosts"};
  // It is refused below, whatever it says.
  if (settings.job.hosts.asked()) settings.rendezvous.node_rank.reset();
  const auto settled = settle_rendezvous(settings.rendezvous, environment, settings.job);
  if (!settled) return usage_error(settled.error().text);
  JobSpec job = std::move(settings.job);
  job.command = std::move(scanned->command);
  job.separator_before_program = scanned->separator;
  heed_log_level(given, environment, job);
  if (const std::string error = check_command(job); !error.empty()) return usage_error(error);
  if (const std::string error = contradiction(job, given); !error.empty())
    return usage_error(error);
  for (std::string& line : unknown_variables(environment)) job.notices.push_back(std::move(line));
  for (std::string& line : job.notices) line = one_line(line);
  return job;
}

}  // namespace ddprun::cli
