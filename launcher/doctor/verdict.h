// What is good, doubtful or wrong about a machine, with advice.
#pragma once

#include <string>
#include <vector>

#include "launcher/doctor/facts.h"

namespace ddprun::doctor {

// `problem`: a job would not start, or only by luck.
enum class Verdict { ok, warn, problem };

struct Finding {
  Verdict verdict = Verdict::ok;
  std::string subject;  // "open files"
  std::string text;     // what was found
  std::string advice;   // what to do; empty with `ok`
};

// Pure. One finding for each subject, always in the same order.
std::vector<Finding> examine(const Facts& facts);

// Pure. One screen for a terminal or a bug report, with its final newline: a line for each finding,
// one more for its advice, and a last one that counts.
std::string text(const Facts& facts, const std::vector<Finding>& findings);

// Pure. The same for programs: `ddprun`, `host`, `kernel`, `libc`, `time`, the `findings` with
// `verdict`, `subject`, `text` and `advice`, and the numbers of `problems` and `warnings`.
std::string json_text(const Facts& facts, const std::vector<Finding>& findings);

// What --doctor exits with: 1 when there is a problem, else 0; warnings stop no job.
int exit_code(const std::vector<Finding>& findings);

}  // namespace ddprun::doctor
