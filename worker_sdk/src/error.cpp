#include "ddp/error.h"

#include <utility>

namespace ddp {

Error::Error(int rank, const std::string& text, std::vector<int> waited_for)
    : std::runtime_error(rank < 0 ? text : "[rank " + std::to_string(rank) + "] " + text),
      rank_(rank),
      waited_for_(std::move(waited_for)) {}

Error::~Error() = default;

}  // namespace ddp
