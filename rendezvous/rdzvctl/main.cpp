// rdzvctl: asks a rendezvous server about its runs.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <string>
#include <utility>

#include "rendezvous/base/version.h"
#include "rendezvous/guard/token.h"
#include "rendezvous/rdzvctl/commands.h"
#include "rendezvous/rdzvctl/options.h"

int main(int argc, char** argv) {
  using namespace ddprun;
  const auto variable = guard::take_token_variable();
  const char* endpoint = std::getenv("RDZV_ENDPOINT");
  const auto options = rdzvctl::parse_options(
      {argv + (argc > 0 ? 1 : 0), argv + argc},
      endpoint == nullptr ? std::nullopt : std::optional<std::string>(endpoint));
  if (!options) {
    std::fprintf(stderr, "rdzvctl: %s\n", options.error().text.c_str());
    return 2;
  }
  if (options->help) return std::fputs(rdzvctl::help_text().c_str(), stdout) < 0;
  if (options->version) return std::printf("rdzvctl %s\n", std::string(version()).c_str()) < 0;
  const auto token = guard::Token::find(options->token_file, variable);
  if (!token) {
    std::fprintf(stderr, "rdzvctl: %s\n", token.error().text.c_str());
    return 2;
  }
  rdzvctl::Keys keys{.token = *token, .tls = nullptr};
  if (options->tls.any()) {
    auto tls =
        options->tls.ca
            ? guard::Tls::client(options->tls, options->endpoints.front().host)
            : Error{"--tls-cert needs --tls-ca FILE, with the certificate of the server's CA"};
    if (!tls) {
      std::fprintf(stderr, "rdzvctl: %s\n", tls.error().text.c_str());
      return 2;
    }
    keys.tls = std::move(*tls);
  }
  try {
    return rdzvctl::run(*options, keys);
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "rdzvctl: cannot go on: %s\n", failure.what());
    return 1;
  }
}
