// What one value on the command line means: pure readers, each with a one-line answer to what is
// wrong.
//
// An Error's text has no option name in it ("'x' is not …"): the caller knows whether the value
// came from an option or from a variable and puts that in front.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "launcher/cli/job_spec.h"
#include "rendezvous/base/result.h"

namespace ddprun::cli {

// Workers and simulated GPUs of one node; more is taken for a slip.
inline constexpr int kMostWorkers = 16'384;
inline constexpr int kMostSimulatedGpus = 1'024;
// --shutdown-timeout, in seconds: a week. `inf` is refused, because the stop ladder must end.
inline constexpr double kLongestTimeout = 604'800;

// A whole number between `lowest` and `highest`; blanks, signs other than `-` and further letters
// are errors.
Result<int> read_integer(std::string_view text, int lowest, int highest);

// --nproc-per-node: a number from 1, `auto`, `gpu` or `cpu`. `gpu:4` and `xpu` get an answer of
// their own.
Result<WorkerCount> read_worker_count(std::string_view text);

// --master-port: 0 to 65535.
Result<std::uint16_t> read_port(std::string_view text);

// Seconds with an optional fraction, 0 to kLongestTimeout, rounded to milliseconds.
Result<std::chrono::milliseconds> read_seconds(std::string_view text);

// 0, 1, true or false, as in a PET_* variable.
Result<bool> read_boolean(std::string_view text);

// --rdzv-endpoint: HOST, HOST:PORT, [V6] or [V6]:PORT.
struct Endpoint {
  std::string host;
  std::optional<std::uint16_t> port;
};
Result<Endpoint> read_endpoint(std::string_view text);

// --nnodes: N or MIN:MAX with 0 < MIN <= MAX.
struct NodeRange {
  int min = 1;
  int max = 1;
};
Result<NodeRange> read_nodes(std::string_view text);

// --redirects, --tee: 0 to 3, or a map such as 0:3,1:0. True when any stream is asked for.
Result<bool> read_stream_map(std::string_view text);

// What is wrong with a value before anybody asks what it means: nothing in it, a $(NAME) or $NAME
// that nobody expanded, the next option glued to it. None: it looks like a value.
std::optional<std::string> find_slip(std::string_view value);

}  // namespace ddprun::cli
