// The exit codes that are ddprun's own. Everything else is a worker's code, or 128 + n for a
// signal.
#pragma once

namespace ddprun::process {

inline constexpr int kExitRefused = 2;          // wrong command line or plan: nothing was started
inline constexpr int kExitTimedOut = 124;       // --timeout, --exit-grace, --progress-timeout
inline constexpr int kExitCannotWork = 125;     // ddprun itself could not do its work
inline constexpr int kExitNotExecutable = 126;  // PROGRAM was found and cannot be executed
inline constexpr int kExitNotFound = 127;       // PROGRAM was not found

}  // namespace ddprun::process
