// What ddprun, rdzvd and rdzvctl ask of their module around OpenSSL. The module is a library of its
// own, opened when a token or TLS is asked for, so that no other start pays for loading OpenSSL.
//
// The interface is C, so that nothing of the C++ library has to be shared.
#pragma once

#include <cstddef>

namespace ddprun::guard {

inline constexpr const char* kModuleFile = "libddprun_openssl.so";
inline constexpr const char* kModuleFunction = "ddprun_openssl_1";  // changes with the types
inline constexpr std::size_t kHmacBytes = 32;

struct OpensslFunctions {
  // HMAC-SHA256. False: OpenSSL cannot do it.
  bool (*hmac)(const char* key, std::size_t key_size, const char* text, std::size_t text_size,
               unsigned char (&code)[kHmacBytes]);
};

// The type of kModuleFunction. What it returns lives as long as the module.
using GetOpensslFunctions = const OpensslFunctions*();

}  // namespace ddprun::guard
