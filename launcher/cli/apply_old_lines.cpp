#include "launcher/cli/apply.h"
#include "rendezvous/base/decimal.h"

namespace ddprun::cli::apply {

Reading pass_local_rank(const std::string& value, Settings& settings) {
  auto& argument = settings.job.local_rank_argument;
  if (value == "local_rank")
    argument = LocalRankArgument::underscore;
  else if (value == "local-rank" || value == "1" || value == "true")
    argument = LocalRankArgument::dash;
  else if (value == "0" || value == "false")
    argument = LocalRankArgument::none;
  else
    return wrong("'" + value +
                 "' is not a spelling of the argument; write local-rank or local_rank");
  return taken();
}

Reading monitor_interval(const std::string& value, Settings&) {
  if (read_decimal(value)) return taken();
  return wrong("'" + value +
               "' is not a time in seconds (ddprun polls nothing, so it can be left out)");
}

Reading start_method(const std::string& value, Settings&) {
  static constexpr Choice<bool> kMethods[] = {
      {"spawn", true}, {"fork", true}, {"forkserver", true}};
  const Result<bool> known = read_choice<bool>(value, kMethods);
  return known ? taken() : wrong(known.error().text);
}

Reading event_log_handler(const std::string& value, Settings& settings) {
  if (value != "null" && value != "dynamic_rendezvous")
    settings.job.notices.push_back(settings.label + ": ddprun has no handler '" + value +
                                   "', events are not logged");
  return taken();
}

Reading use_env(const std::string& value, Settings&) {
  const Result<bool> on = read_boolean(value);
  return on ? taken() : wrong(on.error().text);
}

Reading logs_specs(const std::string&, Settings&) {
  return wrong("layouts of logs that are Python plug-ins cannot be loaded by ddprun; leave it out");
}

}  // namespace ddprun::cli::apply
