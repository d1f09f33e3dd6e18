// rdzvd: where the nodes of a job meet. See docs/architecture.md.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

#include "rendezvous/base/version.h"
#include "rendezvous/rdzvd/daemon.h"
#include "rendezvous/rdzvd/options.h"

int main(int argc, char** argv) {
  using namespace ddprun;
  const auto options = rdzvd::parse_options({argv + (argc > 0 ? 1 : 0), argv + argc});
  if (!options) {
    std::fprintf(stderr, "rdzvd: %s\n", options.error().text.c_str());
    return 2;
  }
  if (options->help) return std::fputs(rdzvd::help_text().c_str(), stdout) < 0;
  if (options->version) return std::printf("rdzvd %s\n", std::string(version()).c_str()) < 0;
  if (const char* token = std::getenv("RDZV_TOKEN"); token != nullptr && *token != '\0') {
    std::fputs(
        "rdzvd: RDZV_TOKEN is set, but this version cannot guard its port yet; unset it, and let "
        "only trusted hosts reach the port\n",
        stderr);
    return 2;
  }
  std::signal(SIGPIPE, SIG_IGN);
  try {
    return rdzvd::serve(*options);
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "rdzvd: cannot go on: %s\n", failure.what());
    return 1;
  }
}
