// Reads small files, those of /proc above all.
#pragma once

#include <optional>
#include <string>

namespace ddprun {

// The whole of a file; none if it cannot be opened or read. Throws nothing: the files of a process
// vanish while they are read, which a std::ifstream reports by an exception of its own.
std::optional<std::string> read_file(const std::string& path);

}  // namespace ddprun
