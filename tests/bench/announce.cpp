#include "tests/bench/announce.h"

#include <unistd.h>

#include <cstdio>
#include <exception>

namespace ddprun::bench {

int announce(const std::function<std::string()>& measure) try {
  std::printf("%s\n", measure().c_str());
  std::fflush(stdout);
  for (;;) ::pause();
} catch (const std::exception& error) {
  std::printf("%s\n", error.what());
  return 1;
}

std::string digits(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4f", value);
  return text;
}

}  // namespace ddprun::bench
