// The recorded counts of instructions, and what a new count says beside them. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "rendezvous/base/result.h"

namespace ddprun::counts {

// What a count depends on beside the code: "compiler" is "GNU 12.2.0".
using BuiltWith = std::map<std::string, std::string>;

struct Record {
  BuiltWith built_with;
  std::map<std::string, std::uint64_t> instructions;  // by workload
};

// {"built_with": {…}, "instructions": {…}}, one line for each entry. The Error says what is wrong.
Result<Record> parse_record(std::string_view json);
std::string to_json(const Record& record);

// Why counts made with `here` mean nothing beside the record: "recorded with compiler GNU 12.2.0,
// this is GNU 13.1.0". Nothing if they do.
std::optional<std::string> not_comparable(const BuiltWith& recorded, const BuiltWith& here);

// What may come and go between two records. The same program counts the same but for a hundredth of
// a percent.
inline constexpr double kTolerance = 0.05;

struct Verdict {
  enum class Kind {
    same,        // within the tolerance
    better,      // fewer by more than that: the record should be renewed
    worse,       // more by more than that
    unrecorded,  // there is no record of this workload
  };
  Kind kind = Kind::same;
  std::string text;  // one line that says all of it, with what to do next
};
Verdict compare(const Record& record, const std::string& workload, std::uint64_t instructions);

}  // namespace ddprun::counts
