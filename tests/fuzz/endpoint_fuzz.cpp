// Any text as an address in each of the forms that users write: what is accepted can be written
// again and means the same, what is refused says why.
#include <cstdint>

#include "ddp/error.h"
#include "launcher/cli/rendezvous_spec.h"
#include "launcher/cli/values.h"
#include "rendezvous/base/endpoint.h"
#include "tests/fuzz/checks.h"
#include "worker_sdk/src/init_method.h"

namespace {

using namespace ddprun;
using fuzz::require;

void check_endpoint(std::string_view text) {
  const auto endpoint = parse_endpoint(text);
  if (!endpoint) return require(!endpoint.error().text.empty());
  const auto again = parse_endpoint(to_text(*endpoint));
  require(again && again->host == endpoint->host && again->port == endpoint->port);
}

void check_option(std::string_view text) {
  const auto endpoint = cli::read_endpoint(text);
  if (!endpoint) return require(!endpoint.error().text.empty());
  require(!endpoint->host.empty() && endpoint->host.find_first_of(" \t/") == std::string::npos);
  const std::string written =
      cli::text_of(cli::MeetingPoint{endpoint->host, endpoint->port.value_or(1)});
  const auto again = cli::read_endpoint(written);
  require(again && again->host == endpoint->host && again->port == endpoint->port.value_or(1));
}

void check_host(std::string_view text) {
  const auto host = cli::read_host(text);
  if (!host) return require(!host.error().text.empty());
  const auto again = cli::read_host(*host);
  require(!host->empty() && again && *again == *host);
}

void check_init_method(const std::string& text) {
  using Kind = ddp::detail::InitMethod::Kind;
  try {
    const auto method = ddp::detail::parse_init_method(text, 0);
    require(method.kind != Kind::kTcp || (!method.host.empty() && method.port != 0));
    require(method.kind != Kind::kFile || method.path.starts_with('/'));
    require(method.rank >= -1 && method.world_size >= -1);
  } catch (const ddp::Error& error) {
    require(std::string_view(error.what()).find("init_method") != std::string_view::npos);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::view_of(data, size);
  check_endpoint(text);
  check_option(text);
  check_host(text);
  check_init_method(std::string(text));
  return 0;
}
