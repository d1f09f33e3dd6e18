#include "rendezvous/server/way_in.h"

#include "rendezvous/guard/tls.h"

namespace ddprun::server {

std::string refuse_way(const WayIn& needed, const guard::TlsFacts* tls) {
  if (needed.needs_tls && tls == nullptr)
    return "this server speaks TLS only: give --tls-ca FILE to ddprun and rdzvctl, with the "
           "certificate of the CA that has signed the server's, and write https:// in a browser";
  if (needed.needs_certificate && !tls->has_certificate)
    return "this server wants a certificate of its CA: give --tls-cert FILE and --tls-key FILE";
  return "";
}

}  // namespace ddprun::server
