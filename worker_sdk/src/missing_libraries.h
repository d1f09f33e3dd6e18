// Which libraries a shared library needs and the loader does not find. dlopen() names only the
// first of them.
#pragma once

#include <string>
#include <vector>

namespace ddp::detail {

// Names as the file has them ("libcudnn.so.9"), in its order; empty also if `file` is no shared
// library of this machine. Those that a found library needs in turn are not looked at. Loads what
// is found on the loader's own path, for a moment.
std::vector<std::string> missing_libraries(const std::string& file);

}  // namespace ddp::detail
