// ddprun: starts the workers of a training job. See docs/architecture.md.
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "launcher/guardian/disguise.h"
#include "launcher/guardian/guardian.h"
#include "launcher/launch.h"
#include "launcher/process/exit_codes.h"
#include "rendezvous/guard/token.h"

int main(int argc, char** argv) {
  using namespace ddprun;
  const std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
  auto token = guard::take_token_variable();
  guardian::Link link = guardian::split();
  guardian::disguise(argc, argv);
  report::ExitDecision end{.code = process::kExitCannotWork};
  try {
    end = launch(words, cli::Environment(environ), std::move(token), std::move(link));
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "ddprun: cannot go on: %s\n", failure.what());
  }
  // The guardian sees how this process ends, and ends alike.
  if (end.by_signal != 0) guardian::end_by_signal(end.by_signal, /*is_init=*/false);
  return end.code;
}
