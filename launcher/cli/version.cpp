#include "launcher/cli/version.h"

namespace ddprun::cli {

std::string_view version() {
  return DDPRUN_VERSION;
}

}  // namespace ddprun::cli
