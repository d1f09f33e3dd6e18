#include "ddp/error.h"

namespace ddp {

Error::Error(int rank, const std::string& text)
    : std::runtime_error(rank < 0 ? text : "[rank " + std::to_string(rank) + "] " + text),
      rank_(rank) {}

Error::~Error() = default;

}  // namespace ddp
