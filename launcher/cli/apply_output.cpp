#include "launcher/cli/apply.h"
#include "launcher/cli/line_texts.h"
#include "launcher/cli/read_ranks.h"

namespace ddprun::cli::apply {

Reading quiet(const std::string& value, Settings& settings) {
  const Result<bool> on = read_boolean(value);
  if (!on) return wrong(on.error().text);
  if (*on) settings.job.verbosity = Verbosity::quiet;
  return taken();
}

Reading verbose(const std::string& value, Settings& settings) {
  const Result<bool> on = read_boolean(value);
  if (!on) return wrong(on.error().text);
  if (!*on) return taken();
  if (settings.job.verbosity == Verbosity::quiet)
    return wrong("it excludes --quiet; give one of the two");
  settings.job.verbosity = Verbosity::verbose;
  return taken();
}

Reading redirects(const std::string& value, Settings& settings) {
  return store(read_stream_map(value), settings.job.redirects);
}

Reading tee(const std::string& value, Settings& settings) {
  return store(read_stream_map(value), settings.job.tee);
}

Reading local_ranks_filter(const std::string& value, Settings& settings) {
  return store(read_rank_set(value), settings.job.console_ranks);
}

Reading prefix(const std::string& value, Settings& settings) {
  for (const std::string& field : unknown_fields(value)) {
    if (!settings.optional_text) return wrong(unknown_field_text(field));
    settings.job.notices.push_back(settings.label + ": " + unknown_field_text(field));
  }
  settings.job.prefix = value;
  settings.job.prefix_where_usual = settings.optional_text;
  return taken();
}

Reading duplicate_stdout_filters(const std::string& value, Settings& settings) {
  settings.job.duplicate_stdout_filters = read_filters(value);
  return taken();
}

Reading duplicate_stderr_filters(const std::string& value, Settings& settings) {
  settings.job.duplicate_stderr_filters = read_filters(value);
  return taken();
}

Reading output(const std::string& value, Settings& settings) {
  static constexpr Choice<OutputMode> kModes[] = {{"auto", OutputMode::automatic},
                                                  {"pty", OutputMode::pty},
                                                  {"pipe", OutputMode::pipe},
                                                  {"inherit", OutputMode::inherit}};
  return store(read_choice<OutputMode>(value, kModes), settings.job.output);
}

Reading color(const std::string& value, Settings& settings) {
  static constexpr Choice<ColorChoice> kChoices[] = {{"auto", ColorChoice::automatic},
                                                     {"always", ColorChoice::always},
                                                     {"never", ColorChoice::never}};
  return store(read_choice<ColorChoice>(value, kChoices), settings.job.color);
}

Reading stdin_rank(const std::string& value, Settings& settings) {
  settings.job.stdin_rank.reset();
  if (value == "none") return taken();
  const Result<int> rank = read_integer(value, 0, kHighestRank);
  if (!rank) return wrong(rank.error().text + ", or none");
  settings.job.stdin_rank = *rank;
  return taken();
}

Reading wrap(const std::string& value, Settings& settings) {
  Result<Wrap> wrap = read_wrap(value);
  if (!wrap) return wrong(wrap.error().text);
  settings.job.wraps.push_back(std::move(*wrap));
  return taken();
}

}  // namespace ddprun::cli::apply
