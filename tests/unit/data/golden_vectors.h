// The golden vectors of the c10d store protocol (modern dialect): conversations of two clients, A
// and B, with one fresh server, in the order in which they must be replayed. PyTorch's own libuv
// server passes them.
#pragma once

#include <string>
#include <vector>

namespace ddprun {

struct GoldenStep {
  enum class Kind : char {
    kSend = '>',     // the client sends `bytes`
    kExpect = '<',   // exactly `bytes` arrive at the client
    kSilence = '-',  // nothing arrives yet
    kClosed = '!',   // the server has closed this client's connection
  };
  char client;  // 'A' or 'B'
  Kind kind;
  std::string bytes;
};

struct GoldenVector {
  std::string id;
  std::string text;
  std::vector<GoldenStep> steps;
};

// Throws if the data file is missing or malformed.
std::vector<GoldenVector> read_golden_vectors();

}  // namespace ddprun
