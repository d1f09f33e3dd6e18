// Any text as each kind of value of an option: numbers against the C library's, lists against what
// they say of themselves, and each refusal with a reason.
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <set>

#include "launcher/cli/line_texts.h"
#include "launcher/cli/program_slip.h"
#include "launcher/cli/signal_list.h"
#include "launcher/cli/values.h"
#include "rendezvous/base/decimal.h"
#include "tests/fuzz/checks.h"

namespace {

using namespace ddprun;
using fuzz::require;

// The value, if there is one; else there is a reason.
template <class T>
std::optional<T> value_of(const Result<T>& read) {
  if (read) return *read;
  require(!read.error().text.empty());
  return std::nullopt;
}

void check_integers(const std::string& text) {
  if (const auto number = value_of(cli::read_integer(text, -5, 70'000)))
    require(*number == std::strtol(text.c_str(), nullptr, 10) && *number >= -5 &&
            *number <= 70'000);
  if (const auto port = value_of(cli::read_port(text)))
    require(*port == std::strtol(text.c_str(), nullptr, 10));
  if (const auto nodes = value_of(cli::read_nodes(text)))
    require(nodes->min >= 1 && nodes->min <= nodes->max &&
            nodes->min == std::strtol(text.c_str(), nullptr, 10));
  if (const auto count = value_of(cli::read_worker_count(text)))
    require(count->kind != cli::WorkerCount::Kind::number || count->number >= 1);
  value_of(cli::read_boolean(text));
}

void check_decimals(const std::string& text) {
  const auto decimal = read_decimal(text);
  if (decimal) require(*decimal == std::strtod(text.c_str(), nullptr));
  const auto time = value_of(cli::read_seconds(text, 100));
  require(!time || (decimal && *decimal <= 100));
  if (time) require(std::abs(static_cast<double>(time->count()) - 1000 * *decimal) <= 0.5001);
}

void check_signals(const std::string& text) {
  const auto signals = value_of(cli::read_signals(text));
  if (!signals) return;
  require(!signals->empty());
  for (const int signal : *signals) require(signal != SIGKILL && signal != SIGCHLD && signal > 0);
  require(std::set(signals->begin(), signals->end()).size() == signals->size());
  const auto again = value_of(cli::read_signals(cli::signal_list_text(*signals)));
  require(again && *again == *signals);
}

void check_filters(const std::string& text) {
  const std::vector<std::string> filters = cli::read_filters(text);
  std::string list;
  for (const std::string& filter : filters) {
    require(!filter.empty());
    list += list.empty() ? "" : ",";
    for (const char c : filter) list += c == ',' ? std::string(",,") : std::string(1, c);
  }
  // A filter that begins with a comma would take the one that separates it.
  const auto leads = [](const std::string& filter) { return filter.starts_with(','); };
  if (std::ranges::none_of(filters, leads)) require(cli::read_filters(list) == filters);
}

void check_slips(const std::string& text) {
  const std::string line = cli::one_line(text);
  require(line.empty() || fuzz::is_one_line(line));
  require(cli::one_line(line) == line);
  if (const auto slip = cli::find_slip(text)) require(!slip->empty());
  if (const auto slip = cli::program_slip(text)) require(!slip->empty());
  for (const std::string& field : cli::unknown_fields(text))
    require(cli::unknown_field_text(field).find("${rank}") != std::string::npos);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // No word of a command line has a zero byte.
  const std::string text(fuzz::split(fuzz::view_of(data, size), '\0').front());
  check_integers(text);
  check_decimals(text);
  check_signals(text);
  check_filters(text);
  check_slips(text);
  return 0;
}
