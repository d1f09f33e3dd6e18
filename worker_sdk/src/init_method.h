// Where the ranks meet, read from init_process_group's init_method. No LibTorch.
#pragma once

#include <cstdint>
#include <string>

namespace ddp::detail {

struct InitMethod {
  enum class Kind { kEnv, kTcp, kFile };
  Kind kind = Kind::kEnv;
  std::string host;  // kTcp
  std::uint16_t port = 0;
  std::string path;                // kFile, absolute
  int rank = -1, world_size = -1;  // from "?rank=R&world_size=W"; -1 where they are not named
};

// "env://", "tcp://HOST:PORT" or "file:///PATH", the last two with an optional
// "?rank=R&world_size=W". Throws ddp::Error, for `rank`, with the accepted form.
InitMethod parse_init_method(const std::string& text, int rank);

}  // namespace ddp::detail
