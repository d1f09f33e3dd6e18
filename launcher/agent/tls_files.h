// The files of TLS that the user has given, and what is made of them.
#pragma once

#include <memory>

#include "launcher/cli/rendezvous_spec.h"
#include "rendezvous/base/result.h"
#include "rendezvous/guard/tls.h"

namespace ddprun::agent {

// Whether the nodes of the job speak TLS.
bool uses_tls(const cli::RendezvousSpec& spec);

// This node towards the server, whose certificate has to be for the endpoint's host.
Result<std::shared_ptr<const guard::Tls>> tls_client_of(const cli::RendezvousSpec& spec);

// The server, should this node host it. Clients that have `store_key` need no certificate, and are
// let into its store. Error: also where no certificate was given.
Result<std::shared_ptr<const guard::Tls>> tls_server_of(const cli::RendezvousSpec& spec,
                                                        const std::string& store_key);

// Whether the files are there and fit together, before anything is started.
Result<void> check_tls(const cli::RendezvousSpec& spec);

}  // namespace ddprun::agent
