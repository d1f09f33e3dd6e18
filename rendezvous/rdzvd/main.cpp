// rdzvd: where the nodes of a job meet. See docs/architecture.md.
#include <csignal>
#include <cstdio>
#include <exception>
#include <utility>
#include <vector>

#include "rendezvous/base/version.h"
#include "rendezvous/guard/token.h"
#include "rendezvous/rdzvd/daemon.h"
#include "rendezvous/rdzvd/options.h"

int main(int argc, char** argv) {
  using namespace ddprun;
  const auto variable = guard::take_token_variable();
  const auto options = rdzvd::parse_options({argv + (argc > 0 ? 1 : 0), argv + argc});
  if (!options) {
    std::fprintf(stderr, "rdzvd: %s\n", options.error().text.c_str());
    return 2;
  }
  if (options->help) return std::fputs(rdzvd::help_text().c_str(), stdout) < 0;
  if (options->version) return std::printf("rdzvd %s\n", std::string(version()).c_str()) < 0;
  auto token = guard::Token::find(options->token_file, variable);
  if (!token) {
    std::fprintf(stderr, "rdzvd: %s\n", token.error().text.c_str());
    return 2;
  }
  auto tls = rdzvd::tls_of(*options);
  if (!tls) {
    std::fprintf(stderr, "rdzvd: %s\n", tls.error().text.c_str());
    return 2;
  }
  if ((*token || *tls) && options->store.value_or(false)) {
    std::fputs(
        "rdzvd: --store on: its clients can neither show a token nor speak TLS, so the store is "
        "closed where there is one of them; leave it out\n",
        stderr);
    return 2;
  }
  std::signal(SIGPIPE, SIG_IGN);
  try {
    return rdzvd::serve(*options, std::move(*token), std::move(*tls));
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "rdzvd: cannot go on: %s\n", failure.what());
    return 1;
  }
}
