// The error.json by which a worker tells its launcher what went wrong.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ddp::detail {

// PyTorch's form. torchrun fails on a file without the time, which is in seconds since 1970.
// Texts are made UTF-8 where they are not. `waited_for` is an addition of ours, for ddprun.
std::string error_json(const std::string& message, const std::string& stack, std::int64_t time,
                       const std::vector<int>& waited_for = {});

// Writes it so that the launcher sees all of it or nothing. Returns why it could not be written, or
// nothing.
std::string write_error_file(const std::string& path, const std::string& json);

}  // namespace ddp::detail
