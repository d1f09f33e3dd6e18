// Why a program could not be executed, in words.
#pragma once

#include <string>
#include <string_view>

namespace ddprun::report {

struct ExecFailure {
  // 127 not found, 126 found but not executable, 125 the system had no room for a process.
  int code = 126;
  // "cannot start './nope': no such file or directory"; no name in front, no newline.
  std::string text;
};

// What exec tried to execute, as far as it matters here.
struct ProgramTraits {
  enum class Kind { missing, directory, regular, other };
  Kind kind = Kind::missing;
  bool executable = false;   // this user may execute it
  bool exists_here = false;  // a program given without a slash lies in the working directory
  std::string head;  // the first bytes, at most 4 KiB; empty for an empty or unreadable file
  bool readable = false;
};

// The exit code when nothing but exec's errno is known.
int exec_failure_code(int error);

// `program` as the user typed it; `error` is exec's errno; `origin` says where the program was
// named if that was not the command line's PROGRAM: "--wrap". Pure.
ExecFailure explain_exec_failure(std::string_view program, int error, const ProgramTraits& file,
                                 std::string_view origin = "");

// The interpreter in a `#!` line, or the dynamic loader in an ELF file's PT_INTERP; empty when
// there is neither.
std::string loader_of(std::string_view head);

// Looks at the file. `path` is the one that exec was given; empty: `program` was not found on PATH.
ProgramTraits look_at_program(const std::string& program, const std::string& path);

}  // namespace ddprun::report
