#include "launcher/agent/tls_files.h"

#include <string>

namespace ddprun::agent {
namespace {

std::optional<std::string> value_of(const std::optional<cli::Sourced<std::string>>& given) {
  return given ? std::optional(given->value) : std::nullopt;
}

guard::TlsFiles files_of(const cli::RendezvousSpec& spec) {
  return {
      .cert = value_of(spec.tls_cert), .key = value_of(spec.tls_key), .ca = value_of(spec.tls_ca)};
}

}  // namespace

bool uses_tls(const cli::RendezvousSpec& spec) {
  return spec.several_nodes() && files_of(spec).any();
}

Result<std::shared_ptr<const guard::Tls>> tls_client_of(const cli::RendezvousSpec& spec) {
  return guard::Tls::client(files_of(spec), spec.endpoint.value.host);
}

Result<std::shared_ptr<const guard::Tls>> tls_server_of(const cli::RendezvousSpec& spec,
                                                        const std::string& store_key) {
  if (!spec.tls_cert)
    return Error{
        "this node would host the rendezvous, which with --tls-ca needs a certificate; "
        "give --tls-cert FILE and --tls-key FILE here"};
  // Not the CA: a server that has one asks for certificates, and those of hosts are mostly for
  // servers alone, so that such a host could not reach its own server.
  return guard::Tls::server(
      {.cert = value_of(spec.tls_cert), .key = value_of(spec.tls_key), .ca = {}}, store_key);
}

Result<void> check_tls(const cli::RendezvousSpec& spec) {
  if (!uses_tls(spec)) return {};
  if (!spec.tls_ca)
    return Error{(spec.tls_cert ? spec.tls_cert : spec.tls_key)->source +
                 " needs --tls-ca FILE as well, with the certificate of the CA; for a certificate "
                 "that has signed itself that is the same file"};
  if (const auto client = tls_client_of(spec); !client) return client.error();
  if (!spec.tls_cert) return {};
  if (const auto server = tls_server_of(spec, {}); !server) return server.error();
  return {};
}

}  // namespace ddprun::agent
