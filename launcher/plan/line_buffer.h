// What makes programs write line by line into a pipe: --line-buffer.
#pragma once

#include <string>
#include <vector>

#include "launcher/cli/environment.h"

namespace ddprun::plan {

// The library of coreutils' stdbuf(1), where distributions put it: the first of `places` that can
// be read; empty when none can.
std::string find_stdbuf_library(const std::vector<std::string>& places = {
                                    "/usr/libexec/coreutils/libstdbuf.so",
                                    "/usr/lib/coreutils/libstdbuf.so",
                                    "/usr/local/libexec/coreutils/libstdbuf.so"});

// `parent`, with which C programs (and C++ programs whose streams are tied to C's, as they are by
// default) flush stdout after each line: `library` is appended to LD_PRELOAD and reads _STDBUF_O.
// Python programs get PYTHONUNBUFFERED. Programs that are linked statically are not reached. Pure.
cli::Environment line_buffered(const cli::Environment& parent, const std::string& library);

}  // namespace ddprun::plan
