// The options that are about hosts on which ddprun starts itself.
#include "launcher/cli/apply.h"
#include "launcher/cli/shell_words.h"

namespace ddprun::cli::apply {

Reading hosts(const std::string& value, Settings& settings) {
  settings.job.hosts.list = value;
  settings.job.hosts.label = settings.label;
  return taken();
}

Reading hostfile(const std::string& value, Settings& settings) {
  settings.job.hosts.file = value;
  settings.job.hosts.label = settings.label;
  return taken();
}

Reading rsh(const std::string& value, Settings& settings) {
  const auto words = split_words(value);
  if (!words) return wrong(words.error().text);
  if (words->empty()) return wrong("'" + value + "' is no command; write ssh, or one like it");
  settings.job.hosts.rsh = *words;
  return taken();
}

Reading remote_ddprun(const std::string& value, Settings& settings) {
  settings.job.hosts.remote_ddprun = value;
  return taken();
}

Reading exported(const std::string& value, Settings& settings) {
  if (value.empty() || value.front() == '=')
    return wrong("'" + value + "' has no name; write NAME or NAME=VALUE");
  settings.job.hosts.exports.push_back(value);
  return taken();
}

}  // namespace ddprun::cli::apply
