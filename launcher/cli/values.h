// What one value on the command line means: pure readers, each with a one-line answer to what is
// wrong.
//
// An Error's text has no option name in it ("'x' is not …"): the caller knows whether the value
// came from an option or from a variable and puts that in front.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/cli/job_spec.h"
#include "rendezvous/base/result.h"

namespace ddprun::cli {

// Workers and simulated GPUs of one node; more is taken for a slip.
inline constexpr int kMostWorkers = 16'384;
inline constexpr int kMostSimulatedGpus = 1'024;
inline constexpr int kMostThreads = 16'384;
inline constexpr int kMostRestarts = 1'000'000;
// --shutdown-timeout, in seconds: a week. `inf` is refused, because the stop ladder must end.
inline constexpr int kLongestTimeout = 604'800;
// --timeout and others that may be as long as a job: a year.
inline constexpr int kLongestJob = 31'536'000;

// "'x' is not one of a, b and c", and which of them is nearest.
std::string not_a_choice(std::string_view text, std::span<const std::string_view> words);

// A whole number between `lowest` and `highest`; blanks, signs other than `-` and further letters
// are errors.
Result<int> read_integer(std::string_view text, int lowest, int highest);

// --nproc-per-node: a number from 1, `auto`, `gpu` or `cpu`. `gpu:4` and `xpu` get an answer of
// their own.
Result<WorkerCount> read_worker_count(std::string_view text);

// --master-port: 0 to 65535.
Result<std::uint16_t> read_port(std::string_view text);

// Seconds with an optional fraction, 0 to `longest`, rounded to milliseconds.
Result<std::chrono::milliseconds> read_seconds(std::string_view text,
                                               int longest = kLongestTimeout);

// One of a few words. The Error lists them and names the nearest.
template <class T>
struct Choice {
  std::string_view word;
  T value;
};
template <class T>
Result<T> read_choice(std::string_view text, std::span<const Choice<T>> choices) {
  std::vector<std::string_view> words;
  for (const Choice<T>& choice : choices) {
    if (choice.word == text) return choice.value;
    words.push_back(choice.word);
  }
  return Error{not_a_choice(text, words)};
}

// 0, 1, true or false, as in a PET_* variable.
Result<bool> read_boolean(std::string_view text);

// --rdzv-endpoint: HOST, HOST:PORT, [V6] or [V6]:PORT.
struct Endpoint {
  std::string host;
  std::optional<std::uint16_t> port;
};
Result<Endpoint> read_endpoint(std::string_view text);
// Several with commas between them: the places of several rdzvd that are one.
Result<std::vector<Endpoint>> read_endpoints(std::string_view text);

// --master-addr, --local-addr: a name or an address; an IPv6 one may have brackets, which are taken
// off. A port behind it is an error.
Result<std::string> read_host(std::string_view text);

// --nnodes: N or MIN:MAX with 0 < MIN <= MAX.
struct NodeRange {
  int min = 1;
  int max = 1;
};
Result<NodeRange> read_nodes(std::string_view text);

// What is wrong with a value before anybody asks what it means: nothing in it, a $(NAME) or $NAME
// that nobody expanded, the next option glued to it. None: it looks like a value.
std::optional<std::string> find_slip(std::string_view value);

}  // namespace ddprun::cli
