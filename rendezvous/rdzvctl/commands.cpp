#include "rendezvous/rdzvctl/commands.h"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/json/serialize.hpp>
#include <chrono>
#include <cstdio>
#include <thread>

#include "rendezvous/base/printable.h"
#include "rendezvous/client/store_client.h"
#include "rendezvous/rdzvctl/ask.h"
#include "rendezvous/rdzvctl/status_text.h"

namespace ddprun::rdzvctl {
namespace {

constexpr std::chrono::seconds kLimit{10};
constexpr std::chrono::seconds kStacksLimit{60};  // longer than the server waits for the nodes
constexpr std::chrono::seconds kBetweenLooks{2};

void print(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

int fail(const std::string& why) {
  std::fprintf(stderr, "rdzvctl: %s\n", printable(why).c_str());
  return 1;
}

// What others have written, for stdout: as it is for a program that reads it, and without anything
// that a terminal would obey for a person.
std::string shown(const std::string& foreign) {
  return ::isatty(STDOUT_FILENO) != 0 ? printable(foreign) : foreign;
}

// The same for a text of several lines.
std::string shown_lines(const std::string& foreign) {
  if (::isatty(STDOUT_FILENO) == 0) return foreign;
  std::string text;
  std::string_view rest = foreign;
  while (true) {
    const std::size_t end = rest.find('\n');
    text += printable(rest.substr(0, end));
    if (end == std::string_view::npos) return text;
    text += '\n';
    rest.remove_prefix(end + 1);
  }
}

std::string who_asks() {
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  const passwd* user = ::getpwuid(::getuid());
  return "rdzvctl on " + std::string(host.data()) + " by " +
         (user == nullptr ? "user " + std::to_string(::getuid()) : user->pw_name);
}

// An answer of this type from the server.
template <class Wanted>
Result<Wanted> ask_for(const Options& options, const Keys& keys,
                       const protocol::AgentMessage& question,
                       std::chrono::seconds limit = kLimit) {
  auto answer = ask(options.endpoints, keys, question, limit);
  if (!answer) return answer.error();
  if (auto* wanted = std::get_if<Wanted>(&answer->message)) return std::move(*wanted);
  return Error{to_text(answer->server) + ": the answer is \"" +
               std::string(type_name(answer->message)) + "\", which was not asked for"};
}

protocol::AskStatus status_question(const Options& options) {
  if (options.run.empty()) return {};
  return {.run = options.run};
}

int status(const Options& options, const Keys& keys) {
  const auto answer = ask_for<protocol::StatusAnswer>(options, keys, status_question(options));
  if (!answer) return fail(answer.error().text);
  print(options.json ? shown(boost::json::serialize(answer->runs)) + "\n"
                     : status_text(answer->runs));
  return 0;
}

int watch(const Options& options, const Keys& keys) {
  const bool terminal = ::isatty(STDOUT_FILENO) != 0;
  while (true) {
    const auto answer = ask_for<protocol::StatusAnswer>(options, keys, status_question(options));
    if (!answer) return fail(answer.error().text);
    // Home, and erase what is below: no flicker.
    print((terminal ? "\x1b[H\x1b[J" : "") + status_text(answer->runs) + (terminal ? "" : "\n"));
    std::this_thread::sleep_for(kBetweenLooks);
  }
}

int cancel(const Options& options, const Keys& keys) {
  const auto answer = ask_for<protocol::CancelAnswer>(
      options, keys, protocol::AskCancel{.run = options.run, .by = who_asks()});
  if (!answer) return fail(answer.error().text);
  print(printable(answer->text) + "\n");
  return 0;
}

int stacks(const Options& options, const Keys& keys) {
  const auto answer = ask_for<protocol::StacksAnswer>(
      options, keys, protocol::AskStacks{.run = options.run}, kStacksLimit);
  if (!answer) return fail(answer.error().text);
  int code = 0;
  bool some = false;
  for (const auto& node : answer->nodes) {
    some = some || node.path;
    if (node.path) {
      print(printable(node.node + ": " + *node.path) + "\n");
    } else if (node.failed) {
      code = fail(node.node + ": no stacks: " + *node.failed);
    } else {
      print(printable(node.node + ": no worker runs there") + "\n");  // a spare
    }
  }
  return some || code != 0 ? code : fail("run " + options.run + " has no workers now");
}

// Keys as the wire has them, so that those of every client can be seen.
Result<client::StoreClient> connect_store(const Options& options) {
  return client::StoreClient::connect({.host = options.endpoints.front().host,
                                       .port = options.endpoints.front().port,
                                       .connect_timeout = kLimit,
                                       .retries = false,
                                       .reply_timeout = kLimit,
                                       .key_prefix = ""});
}

int list_keys(client::StoreClient& store) {
  auto keys = store.list_keys();
  if (!keys) return fail(keys.error().text);
  std::ranges::sort(*keys);
  for (const std::string& key : *keys) print(shown(key) + "\n");
  return 0;
}

int store_command(const Options& options) {
  auto store = connect_store(options);
  if (!store)
    return fail(to_text(options.endpoints.front()) +
                " lets nobody into a store: " + store.error().text +
                "; that of a round is at its workers' MASTER_ADDR:MASTER_PORT");
  if (options.command == Command::store_list) return list_keys(*store);
  if (options.command == Command::store_get) {
    const auto value = store->get(options.key, std::chrono::milliseconds(0));
    if (!value) return fail(value.error().text);
    if (!*value) return fail("there is no key " + options.key);
    print(shown_lines(**value) + "\n");
    return 0;
  }
  if (options.command == Command::store_set) {
    const auto set = store->set(options.key, options.value);
    if (!set) return fail(set.error().text);
    const std::array keys{options.key};
    const auto there = store->check(keys);  // so that it has been applied
    return there ? 0 : fail(there.error().text);
  }
  const auto deleted = store->delete_key(options.key);
  if (!deleted) return fail(deleted.error().text);
  return *deleted ? 0 : fail("there is no key " + options.key);
}

}  // namespace

int run(const Options& options, const Keys& keys) {
  switch (options.command) {
    case Command::status:
      return status(options, keys);
    case Command::watch:
      return watch(options, keys);
    case Command::cancel:
      return cancel(options, keys);
    case Command::stacks:
      return stacks(options, keys);
    default:
      return store_command(options);
  }
}

}  // namespace ddprun::rdzvctl
