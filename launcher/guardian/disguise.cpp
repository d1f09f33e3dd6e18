#include "launcher/guardian/disguise.h"

#include <sys/prctl.h>

#include <algorithm>
#include <cstring>
#include <string_view>

namespace ddprun::guardian {

void disguise(int argc, char** argv) {
  // Must not contain "ddprun".
  constexpr std::string_view kName = "ddp-launcher";
  ::prctl(PR_SET_NAME, kName.data());
  if (argc < 1) return;
  // The words of a command line lie one behind the other; /proc/PID/cmdline shows that memory as it
  // is now.
  char* const begin = argv[0];
  char* const end = argv[argc - 1] + std::strlen(argv[argc - 1]);
  std::memset(begin, 0, static_cast<std::size_t>(end - begin));
  const auto room = static_cast<std::size_t>(end - begin);
  std::memcpy(begin, kName.data(), std::min(room, kName.size()));
}

}  // namespace ddprun::guardian
