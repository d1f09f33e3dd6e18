// The "[rank] " in front of a worker's lines.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/cli/job_spec.h"

namespace ddprun::output {

// Lines carry a prefix when the job has more than one worker and our own stream is a terminal, or
// when somebody asked for it (`asked`: -t or --prefix is given); else they go without into a file
// or a pipe, so that `> out.jsonl` stays valid.
bool uses_prefix(int world_size, bool terminal, bool asked);

// `automatic`: on a terminal, unless NO_COLOR is set to anything but nothing (no-color.org) or the
// terminal is "dumb". The texts are what getenv gives, null where a variable is not set.
bool uses_color(cli::ColorChoice choice, bool terminal, const char* no_color, const char* term);

// "\x1b[36m", one of ten colours; neighbouring ranks differ.
std::string color_of(int rank);

// What a template is used without --log-line-prefix-template.
inline constexpr std::string_view kDefaultPrefix = "[${rank}] ";

// What the fields of a template stand for, for one stream of one worker.
struct PrefixFields {
  int rank = 0;
  int local_rank = 0;
  int attempt = 0;
  std::string role_name;
  std::string hostname;
  std::string stream;  // "stdout" or "stderr"
};

// A template with its fields filled in: ${rank} ${local_rank} ${role_name} ${hostname} ${attempt}
// ${stream} ${time}. The braces may be missing and `$$` is a `$`, as in Python's string.Template,
// which torchrun uses; a name that is no field stays as it is written.
class Prefix {
 public:
  // None at all.
  Prefix() = default;
  // `color` is an escape sequence that begins the text, or empty; blanks at the end stay plain.
  Prefix(std::string_view text, const PrefixFields& fields, const std::string& color = "");

  bool empty() const { return pieces_.empty(); }
  bool has_time() const { return pieces_.size() > 1; }
  // The prefix of lines that arrive at `time`, a text as time_text() gives; without a ${time} it is
  // always the same.
  const std::string& text(std::string_view time = "");

 private:
  std::vector<std::string> pieces_;  // between them stands the time
  std::string text_;
};

// Local time with milliseconds: "17:04:05.123".
std::string time_text(std::chrono::system_clock::time_point now);

// Appends `lines` (whole lines, each with its newline) to `out`, each behind `prefix`.
void append_prefixed(std::string& out, std::string_view prefix, std::string_view lines);

}  // namespace ddprun::output
