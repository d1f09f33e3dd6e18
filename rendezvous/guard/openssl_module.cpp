#include "rendezvous/guard/openssl_module.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

namespace ddprun::guard {
namespace {

bool hmac(const char* key, std::size_t key_size, const char* text, std::size_t text_size,
          unsigned char (&code)[kHmacBytes]) {
  unsigned size = 0;
  return ::HMAC(EVP_sha256(), key, static_cast<int>(key_size),
                reinterpret_cast<const unsigned char*>(text), text_size, code, &size) != nullptr &&
         size == kHmacBytes;
}

}  // namespace
}  // namespace ddprun::guard

extern "C" [[gnu::visibility("default")]] const ddprun::guard::OpensslFunctions*
ddprun_openssl_1() {
  static constexpr ddprun::guard::OpensslFunctions kFunctions{.hmac = ddprun::guard::hmac};
  return &kFunctions;
}
