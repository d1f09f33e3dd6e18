// Who is let in only by TLS, or only with a certificate. Pure.
#pragma once

#include <string>

#include "rendezvous/server/other_protocols.h"

namespace ddprun::server {

struct WayIn {
  bool needs_tls = false;
  bool needs_certificate = false;  // of the server's CA
};

// Why somebody who came so is not served, for both sides; empty if it is.
std::string refuse_way(const WayIn& needed, const guard::TlsFacts* tls);

}  // namespace ddprun::server
