#include "rendezvous/rdzvctl/options.h"

#include <algorithm>
#include <array>
#include <boost/program_options/options_description.hpp>
#include <boost/program_options/parsers.hpp>
#include <boost/program_options/positional_options.hpp>
#include <boost/program_options/variables_map.hpp>

#include "rendezvous/base/nearest.h"
#include "rendezvous/base/printable.h"
#include "rendezvous/guard/token.h"

namespace ddprun::rdzvctl {
namespace {

namespace po = boost::program_options;
using Words = std::vector<std::string>;

struct Usage {
  std::string_view words;  // the command
  Command command;
  std::size_t least;  // words behind it
  std::size_t most;
  std::string_view usage;
};

constexpr std::array kUsages{
    Usage{"status", Command::status, 0, 1, "status [RUN] [--json]"},
    Usage{"watch", Command::watch, 0, 1, "watch [RUN]"},
    Usage{"cancel", Command::cancel, 1, 1, "cancel RUN"},
    Usage{"stacks", Command::stacks, 1, 1, "stacks RUN"},
    Usage{"store ls", Command::store_list, 0, 0, "store ls"},
    Usage{"store get", Command::store_get, 1, 1, "store get KEY"},
    Usage{"store set", Command::store_set, 2, 2, "store set KEY VALUE"},
    Usage{"store delete", Command::store_delete, 1, 1, "store delete KEY"},
};

// Which command the words begin with; they are taken away.
const Usage* take_command(Words& words) {
  const std::size_t count = !words.empty() && words.front() == "store" ? 2 : 1;
  if (words.size() < count) return nullptr;
  const std::string name = count == 1 ? words[0] : words[0] + " " + words[1];
  const auto* usage = std::ranges::find(kUsages, name, &Usage::words);
  if (usage == kUsages.end()) return nullptr;
  words.erase(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(count));
  return usage;
}

Result<Options> set_command(Options options, Words words) {
  const std::string first = words.empty() ? "" : words.front();
  const Usage* usage = take_command(words);
  if (usage == nullptr) {
    if (first.empty()) return Error{"a command is missing; see rdzvctl --help"};
    const std::string said = first == "store" && words.size() > 1 ? first + " " + words[1] : first;
    std::vector<std::string_view> commands;
    for (const Usage& each : kUsages) commands.push_back(each.words);
    return Error{"'" + said + "' is no command" + did_you_mean(said, commands) +
                 (nearest_of(said, commands).empty() ? "; see" : " See") + " rdzvctl --help"};
  }
  if (words.size() < usage->least || words.size() > usage->most)
    return Error{"usage: rdzvctl " + std::string(usage->usage)};
  options.command = usage->command;
  const bool of_store = usage->words.starts_with("store");
  if (!words.empty()) (of_store ? options.key : options.run) = words[0];
  if (words.size() == 2) options.value = words[1];
  if (options.json && options.command != Command::status) return Error{"--json is for status only"};
  return options;
}

Result<std::vector<Endpoint>> read_endpoints(std::string_view text) {
  std::vector<Endpoint> all;
  const std::string whole(text);
  while (true) {
    const std::size_t comma = text.find(',');
    const std::string_view each = text.substr(0, comma);
    if (each.empty() && each.size() != whole.size())
      return Error{"'" + whole + "' has nothing on one side of a comma; leave the comma out"};
    const auto endpoint = parse_endpoint(each);
    if (!endpoint) return endpoint.error();
    all.push_back(*endpoint);
    if (all.back().host.empty()) all.back().host = "127.0.0.1";
    if (comma == std::string_view::npos) return all;
    text.remove_prefix(comma + 1);
  }
}

Result<Options> read_words(const Words& words, const std::optional<std::string>& endpoint) {
  po::options_description known;
  known.add_options()("endpoint", po::value<std::string>(), "")(
      "token-file", po::value<std::string>(), "")("tls-ca", po::value<std::string>(), "")(
      "tls-cert", po::value<std::string>(), "")("tls-key", po::value<std::string>(), "")(
      "json", "")("version", "")("help", "")("words", po::value<Words>(), "");
  po::positional_options_description positional;
  positional.add("words", -1);
  po::variables_map given;
  try {
    using namespace po::command_line_style;
    po::store(po::command_line_parser(words)
                  .options(known)
                  .positional(positional)
                  .style(allow_long | long_allow_adjacent | long_allow_next)
                  .run(),
              given);
  } catch (const po::unknown_option& option) {
    if (guard::is_token_option(option.get_option_name()))
      return Error{std::string("--token: ") + guard::kTokenOnCommandLine};
    return Error{"there is no option " + option.get_option_name() +
                 "; did you mean --endpoint? See rdzvctl --help"};
  } catch (const po::error& error) {
    return Error{std::string(error.what()) + "; see rdzvctl --help"};
  }
  Options options{.json = given.contains("json"),
                  .help = given.contains("help"),
                  .version = given.contains("version")};
  if (options.help || options.version) return options;
  const auto file = [&](const char* name) {
    return given.contains(name) ? std::optional(given[name].as<std::string>()) : std::nullopt;
  };
  options.token_file = file("token-file");
  options.tls = {.cert = file("tls-cert"), .key = file("tls-key"), .ca = file("tls-ca")};
  const std::string where = given.contains("endpoint") ? given["endpoint"].as<std::string>()
                                                       : endpoint.value_or("127.0.0.1");
  auto endpoints = read_endpoints(where);
  if (!endpoints) return Error{"the endpoint: " + endpoints.error().text};
  options.endpoints = std::move(*endpoints);
  return set_command(std::move(options),
                     given.contains("words") ? given["words"].as<Words>() : Words{});
}

}  // namespace

Result<Options> parse_options(const Words& words, const std::optional<std::string>& endpoint) {
  auto options = read_words(words, endpoint);
  // A word may hold anything, and the message goes to a terminal.
  if (!options) return Error{printable(options.error().text)};
  return options;
}

std::string help_text() {
  std::string text =
      "usage: rdzvctl [--endpoint HOST:PORT] COMMAND\n\n"
      "Asks a rendezvous server, rdzvd or the one inside ddprun, about its runs.\n\n";
  for (const Usage& usage : kUsages) text += "  rdzvctl " + std::string(usage.usage) + "\n";
  return text +
         "\n  --endpoint HOST:PORT  the server, or several rdzvd --state with commas between them; "
         "else\n"
         "                        $RDZV_ENDPOINT, else 127.0.0.1:29400\n"
         "  --token-file FILE     the server's token, in a file that only you can read; else "
         "$RDZV_TOKEN\n"
         "  --tls-ca FILE         the server is reached by TLS; the certificate of its CA\n"
         "  --tls-cert FILE, --tls-key FILE\n"
         "                        what the server may want to see\n"
         "  --json                status as JSON\n"
         "  --version, --help\n\n"
         "cancel and stacks are taken from the server's own host only, or with its token.\n"
         "Ends with 0, with 1 if the server could not be asked or refused, with 2 for a wrong\n"
         "command line.\n";
}

}  // namespace ddprun::rdzvctl
