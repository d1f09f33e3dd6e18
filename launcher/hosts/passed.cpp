#include "launcher/hosts/passed.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "launcher/cli/options.h"
#include "rendezvous/base/nearest.h"

namespace ddprun::hosts {
namespace {

using Entries = std::vector<std::string>;

// Where the value of the other host is kept behind ours.
constexpr std::array<std::string_view, 2> kSearchPaths{"PATH", "LD_LIBRARY_PATH"};

// These speak of nodes, or are options of the ddprun that the user has started.
constexpr std::array<std::string_view, 10> kOptionsOfHosts{
    "hosts",  "hostfile", "rsh",    "export", "remote-ddprun",
    "nnodes", "dry-run",  "report", "events", "doctor"};

template <class Words>
bool contains(const Words& words, std::string_view word) {
  return std::ranges::find(words, word) != std::end(words);
}

bool is_name(std::string_view text) {
  return !text.empty() && std::isdigit(static_cast<unsigned char>(text.front())) == 0 &&
         std::ranges::all_of(text,
                             [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
}

// A default of ddprun's that is about this command line and not about a node.
bool stays_here(std::string_view name) {
  return std::ranges::any_of(cli::options(), [&](const cli::Option& option) {
    return cli::variable_of(option) == name && contains(kOptionsOfHosts, option.name);
  });
}

// DeepSpeed passes NCCL, PYTHON and UCX without being asked.
bool goes_unasked(std::string_view name) {
  static constexpr std::array<std::string_view, 9> kBegin{
      "NCCL_", "GLOO_", "TORCH_", "PYTHON", "UCX_", "OMP_", "MKL_", "FI_", "TORCHELASTIC_LOG_"};
  if (name.starts_with("PET_")) return !stays_here(name);
  if (name == "LOGLEVEL" || name == "RDZV_TOKEN" || contains(kSearchPaths, name)) return true;
  return std::ranges::any_of(kBegin, [&](auto begin) { return name.starts_with(begin); });
}

void put(std::string_view name, std::string_view value, Entries& entries) {
  std::erase_if(entries,
                [&](const std::string& entry) { return cli::variable_name(entry) == name; });
  entries.push_back(std::string(name) + "=" + std::string(value));
}

Error not_set(const std::string& name, const cli::Environment& here) {
  std::vector<std::string_view> names;
  for (const std::string& entry : here.entries()) names.push_back(cli::variable_name(entry));
  return Error{"'" + name + "' is not set here" + did_you_mean(name, names) +
               (did_you_mean(name, names).empty() ? "; write " + name + "=VALUE" : "")};
}

// "NCCL_*": all that are set, which may be none.
void put_all(std::string_view begin, const cli::Environment& here, Entries& entries) {
  for (const std::string& entry : here.entries())
    if (const auto name = cli::variable_name(entry); name.starts_with(begin))
      put(name, *here.get(name), entries);
}

Result<void> put_asked(const std::string& asked, const cli::Environment& here, Entries& entries) {
  const std::string name(cli::variable_name(asked));
  const bool has_value = asked.size() > name.size();
  if (!has_value && name.ends_with('*') && is_name(name.substr(0, name.size() - 1))) {
    put_all(std::string_view(name).substr(0, name.size() - 1), here, entries);
    return {};
  }
  if (!is_name(name))
    return Error{"'" + name + "' is not the name of a variable; write NAME, NAME=VALUE or NAME*"};
  const auto value =
      has_value ? asked.substr(name.size() + 1) : std::string(here.get(name).value_or(""));
  if (!has_value && !here.get(name)) return not_set(name, here);
  put(name, value, entries);
  return {};
}

// What is in both is taken once.
std::string joined(std::string_view first, std::string_view second) {
  std::string all(first);
  const auto has = [&](std::string_view folder) {
    return (":" + all + ":").find(":" + std::string(folder) + ":") != std::string::npos;
  };
  while (!second.empty()) {
    const std::size_t end = std::min(second.find(':'), second.size());
    const std::string_view folder = second.substr(0, end);
    second.remove_prefix(std::min(end + 1, second.size()));
    if (!folder.empty() && !has(folder)) all += ":" + std::string(folder);
  }
  return all;
}

// A flag has no value, and `[=X]` may have one.
std::string word_of(const cli::Given& given) {
  const std::string name = "--" + std::string(given.option->name);
  return given.option->metavar.empty() ? name : name + "=" + given.value;
}

std::string prefix_for(const cli::JobSpec& job, const Console& console) {
  if (job.prefix && console.terminal) return *job.prefix;
  return console.terminal || job.tee.any() ? "[${hostname}] [${rank}] " : "[${hostname}] ";
}

}  // namespace

Result<Entries> passed_environment(const Entries& exports, const cli::Environment& here) {
  Entries entries;
  for (const std::string& entry : here.entries())
    if (const auto name = cli::variable_name(entry); goes_unasked(name) && here.get(name))
      put(name, *here.get(name), entries);
  for (const std::string& asked : exports)
    if (const auto put = put_asked(asked, here, entries); !put) return put.error();
  return entries;
}

Entries merged_environment(const Entries& own, const Entries& passed) {
  const cli::Environment before(own);
  Entries entries = own;
  for (const std::string& entry : passed) {
    const std::string_view name = cli::variable_name(entry);
    const std::string value = entry.substr(name.size() + 1);
    const bool path = contains(kSearchPaths, name) && !value.empty();
    put(name, path ? joined(value, before.get(name).value_or("")) : value, entries);
  }
  return entries;
}

Entries options_for_nodes(const cli::Scan& scan, const cli::JobSpec& job, const Console& console) {
  Entries options;
  for (const cli::Given& given : scan.options)
    if (!contains(kOptionsOfHosts, given.option->name)) options.push_back(word_of(given));
  // The lines of all hosts come out in one place, so each says where it comes from.
  const bool own_prefix = job.prefix && !job.prefix_where_usual;
  if (!own_prefix && job.output != cli::OutputMode::inherit)
    options.push_back("--log-line-prefix-template=" + prefix_for(job, console));
  if (job.color == cli::ColorChoice::automatic)
    options.push_back(console.colors ? "--color=always" : "--color=never");
  if (job.output == cli::OutputMode::automatic)
    options.push_back(console.terminal ? "--output=pty" : "--output=pipe");
  return options;
}

Entries file_options(const cli::JobSpec& job) {
  Entries options;
  if (job.report) options.push_back("--report=" + *job.report);
  if (job.events) options.push_back("--events=" + *job.events);
  return options;
}

Entries words_of_node(const Entries& options, const Entries& files, const Entries& command,
                      int index, const Host& host) {
  Entries words = options;
  if (host.slots) words.push_back("--nproc-per-node=" + std::to_string(*host.slots));
  for (const std::string& file : files) {
    if (index == 0)
      words.push_back(file);
    else if (!file.ends_with("=-"))
      words.push_back(file + "." + host.name);
  }
  words.insert(words.end(), command.begin(), command.end());
  return words;
}

}  // namespace ddprun::hosts
