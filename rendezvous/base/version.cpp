#include "rendezvous/base/version.h"

namespace ddprun {

std::string_view version() {
  return DDPRUN_VERSION;
}

}  // namespace ddprun
