#include "launcher/cli/version.h"

#include "rendezvous/base/version.h"

namespace ddprun::cli {

std::string_view version() {
  return ddprun::version();
}

}  // namespace ddprun::cli
