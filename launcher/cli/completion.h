// What ddprun --print-completion prints: the option table as a shell's completion script.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ddprun::cli {

enum class Shell { bash, zsh, fish, tcsh };

// "bash", "zsh", "fish" or "tcsh".
std::optional<Shell> shell_named(std::string_view name);

// A whole script, to be sourced or installed. Options are completed in front of the program, with
// their values where these are a few words, files or folders; from the program on, what the shell
// knows of it.
std::string completion_script(Shell shell);

}  // namespace ddprun::cli
