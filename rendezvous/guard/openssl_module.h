// What ddprun, rdzvd and rdzvctl ask of their module around OpenSSL. The module is a library of its
// own, opened when a token or TLS is asked for, so that no other start pays for loading OpenSSL.
//
// The interface is C, so that nothing of the C++ library has to be shared.
#pragma once

#include <cstddef>

namespace ddprun::guard {

inline constexpr const char* kModuleFile = "libddprun_openssl.so";
inline constexpr const char* kModuleFunction = "ddprun_openssl_2";  // changes with the types
inline constexpr std::size_t kHmacBytes = 32;
inline constexpr std::size_t kTlsKeyBytes = 32;
inline constexpr std::size_t kTlsErrorBytes = 512;

// What one side of TLS has. All but `server` may be null.
struct TlsIdentity {
  bool server = false;
  const char* cert = nullptr;  // file with its certificate, and those between it and the CA
  const char* key = nullptr;   // file with the private key
  const char* ca = nullptr;    // file with the certificates that may have signed the other side's
  // kTlsKeyBytes that both sides have: whoever has them needs no certificate. A client with it
  // takes no server without it.
  const unsigned char* shared_key = nullptr;
};

struct TlsContext;
struct TlsSession;
using TlsErrorText = char[kTlsErrorBytes];

// Ciphertext and plaintext go in and out; nothing here touches a socket. One thread for a session.
struct OpensslFunctions {
  // HMAC-SHA256. False: OpenSSL cannot do it.
  bool (*hmac)(const char* key, std::size_t key_size, const char* text, std::size_t text_size,
               unsigned char (&code)[kHmacBytes]);

  // TLS 1.3 only. Null: `error` says which file is wrong and why.
  TlsContext* (*new_context)(const TlsIdentity& identity, TlsErrorText& error);
  void (*free_context)(TlsContext* context);
  // `peer`: the name or address that the server's certificate must be for; null for servers, and
  // for clients that have a shared key. Null: no memory.
  TlsSession* (*new_session)(TlsContext* context, const char* peer);
  void (*free_session)(TlsSession* session);

  // What has arrived. False: no memory.
  bool (*receive)(TlsSession* session, const char* bytes, std::size_t size);
  // Goes on with the handshake. 1: it is over; 0: more has to arrive; -1: it failed, see `error`.
  int (*shake_hands)(TlsSession* session, TlsErrorText& error);
  // Plaintext that has arrived: how many bytes; 0: none now; -1: the other side has said that it is
  // the end; -2: what has arrived is wrong, see `error`.
  int (*read)(TlsSession* session, char* bytes, int size, TlsErrorText& error);
  // All of it becomes ciphertext. False: it cannot be, the session is not open.
  bool (*write)(TlsSession* session, const char* bytes, int size);
  // Says that it is the end.
  void (*end)(TlsSession* session);
  // Ciphertext to be sent: how many bytes, 0 for none.
  int (*take)(TlsSession* session, char* bytes, int size);

  // Of an open session.
  bool (*used_shared_key)(TlsSession* session);
  bool (*has_certificate)(TlsSession* session);  // the other side, one that the CA has signed
  // Bytes that both sides have and nobody else, another time others.
  bool (*binding)(TlsSession* session, unsigned char (&bytes)[kHmacBytes]);
};

// The type of kModuleFunction. What it returns lives as long as the module.
using GetOpensslFunctions = const OpensslFunctions*();

}  // namespace ddprun::guard
