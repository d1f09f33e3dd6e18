#include "rendezvous/guard/openssl_module.h"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <cstdio>
#include <cstring>

namespace ddprun::guard {

struct TlsContext {
  SSL_CTX* ssl = nullptr;
  bool server = false;
  bool has_key = false;
  unsigned char key[kTlsKeyBytes] = {};
};

struct TlsSession {
  SSL* ssl = nullptr;
  const TlsContext* context = nullptr;
};

namespace {

constexpr const char* kKeyName = "ddprun store";
constexpr const char* kBindingLabel = "EXPORTER-Channel-Binding";  // RFC 9266
constexpr unsigned char kKeyCipher[] = {0x13, 0x01};               // TLS_AES_128_GCM_SHA256

bool hmac(const char* key, std::size_t key_size, const char* text, std::size_t text_size,
          unsigned char (&code)[kHmacBytes]) {
  unsigned size = 0;
  return ::HMAC(EVP_sha256(), key, static_cast<int>(key_size),
                reinterpret_cast<const unsigned char*>(text), text_size, code, &size) != nullptr &&
         size == kHmacBytes;
}

// ---- contexts ----

const char* last_reason() {
  const char* text = ERR_reason_error_string(ERR_peek_last_error());
  return text == nullptr ? "no reason given" : text;
}

// Also wipes OpenSSL's list of errors, which would be taken for those of the next call.
bool fail(TlsErrorText& error, const char* what, const char* file) {
  std::snprintf(error, sizeof error, "%s %s: %s", what, file, last_reason());
  ERR_clear_error();
  return false;
}

// OpenSSL would ask the terminal, and a daemon would wait there.
int no_passphrase(char*, int, int, void*) {
  return 0;
}

bool use_files(SSL_CTX* ssl, const TlsIdentity& identity, TlsErrorText& error) {
  SSL_CTX_set_default_passwd_cb(ssl, no_passphrase);
  if (identity.cert != nullptr && SSL_CTX_use_certificate_chain_file(ssl, identity.cert) != 1)
    return fail(error, "the certificate", identity.cert);
  if (identity.key != nullptr &&
      SSL_CTX_use_PrivateKey_file(ssl, identity.key, SSL_FILETYPE_PEM) != 1)
    return fail(error, "the private key", identity.key);
  if (identity.key != nullptr && SSL_CTX_check_private_key(ssl) != 1)
    return fail(error, "the private key does not belong to the certificate:", identity.key);
  if (identity.ca != nullptr && SSL_CTX_load_verify_file(ssl, identity.ca) != 1)
    return fail(error, "the certificates of the CA", identity.ca);
  return true;
}

// A session that OpenSSL takes for one that is resumed: what TLS 1.3 makes of a shared key.
SSL_SESSION* session_of_key(SSL* ssl, const TlsContext& context) {
  const SSL_CIPHER* cipher = SSL_CIPHER_find(ssl, kKeyCipher);
  SSL_SESSION* session = cipher == nullptr ? nullptr : SSL_SESSION_new();
  if (session == nullptr) return nullptr;
  if (SSL_SESSION_set1_master_key(session, context.key, sizeof context.key) == 1 &&
      SSL_SESSION_set_cipher(session, cipher) == 1 &&
      SSL_SESSION_set_protocol_version(session, TLS1_3_VERSION) == 1)
    return session;
  SSL_SESSION_free(session);
  return nullptr;
}

const TlsContext& context_of(SSL* ssl) {
  return *static_cast<const TlsContext*>(SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl)));
}

int offer_key(SSL* ssl, const EVP_MD*, const unsigned char** name, std::size_t* size,
              SSL_SESSION** session) {
  *session = session_of_key(ssl, context_of(ssl));
  *name = reinterpret_cast<const unsigned char*>(kKeyName);
  *size = std::strlen(kKeyName);
  return *session != nullptr;
}

int find_key(SSL* ssl, const unsigned char* name, std::size_t size, SSL_SESSION** session) {
  *session = nullptr;
  if (size == std::strlen(kKeyName) && std::memcmp(name, kKeyName, size) == 0)
    *session = session_of_key(ssl, context_of(ssl));
  return 1;
}

void use_key(TlsContext& context, const unsigned char* key) {
  context.has_key = true;
  std::memcpy(context.key, key, kTlsKeyBytes);
  if (context.server) return SSL_CTX_set_psk_find_session_callback(context.ssl, find_key);
  // The key belongs to a cipher; a server that chose another one could not use it.
  SSL_CTX_set_ciphersuites(context.ssl, "TLS_AES_128_GCM_SHA256");
  SSL_CTX_set_psk_use_session_callback(context.ssl, offer_key);
}

void free_context(TlsContext* context) {
  SSL_CTX_free(context->ssl);
  OPENSSL_cleanse(context->key, sizeof context->key);
  OPENSSL_free(context);
}

TlsContext* new_context(const TlsIdentity& identity, TlsErrorText& error) {
  SSL_CTX* ssl = SSL_CTX_new(identity.server ? TLS_server_method() : TLS_client_method());
  if (ssl == nullptr) return fail(error, "OpenSSL", "cannot start"), nullptr;
  auto* context = static_cast<TlsContext*>(OPENSSL_zalloc(sizeof(TlsContext)));
  if (context == nullptr) return SSL_CTX_free(ssl), nullptr;
  context->ssl = ssl;
  context->server = identity.server;
  SSL_CTX_set_app_data(ssl, context);
  SSL_CTX_set_min_proto_version(ssl, TLS1_3_VERSION);
  SSL_CTX_set_session_cache_mode(ssl, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_num_tickets(ssl, 0);  // a resumed session would look like one with a shared key
  SSL_CTX_set_mode(ssl, SSL_MODE_RELEASE_BUFFERS);
  if (!use_files(ssl, identity, error)) return free_context(context), nullptr;
  // A client without a certificate can be told in words what it lacks; a server must have one.
  if (identity.ca != nullptr) SSL_CTX_set_verify(ssl, SSL_VERIFY_PEER, nullptr);
  // Without one a server that asks for certificates takes no shared key.
  if (identity.server)
    SSL_CTX_set_session_id_context(ssl, reinterpret_cast<const unsigned char*>(kKeyName),
                                   static_cast<unsigned>(std::strlen(kKeyName)));
  if (identity.shared_key != nullptr) use_key(*context, identity.shared_key);
  return context;
}

// ---- sessions ----

bool expect_peer(SSL* ssl, const char* peer) {
  in6_addr address{};
  const bool literal =
      inet_pton(AF_INET, peer, &address) == 1 || inet_pton(AF_INET6, peer, &address) == 1;
  if (literal) return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), peer) == 1;
  return SSL_set1_host(ssl, peer) == 1 && SSL_set_tlsext_host_name(ssl, peer) == 1;
}

void free_session(TlsSession* session) {
  SSL_free(session->ssl);
  OPENSSL_free(session);
}

TlsSession* new_session(TlsContext* context, const char* peer) {
  SSL* ssl = SSL_new(context->ssl);
  if (ssl == nullptr) return nullptr;
  auto* session = static_cast<TlsSession*>(OPENSSL_zalloc(sizeof(TlsSession)));
  if (session == nullptr) return SSL_free(ssl), nullptr;
  session->ssl = ssl;
  session->context = context;
  BIO* in = BIO_new(BIO_s_mem());
  BIO* out = BIO_new(BIO_s_mem());
  SSL_set_bio(ssl, in, out);  // it owns them
  if (in == nullptr || out == nullptr || (peer != nullptr && !expect_peer(ssl, peer)))
    return free_session(session), nullptr;
  // Nothing more now, not the end.
  BIO_set_mem_eof_return(in, -1);
  BIO_set_mem_eof_return(out, -1);
  context->server ? SSL_set_accept_state(ssl) : SSL_set_connect_state(ssl);
  return session;
}

bool receive(TlsSession* session, const char* bytes, std::size_t size) {
  return BIO_write(SSL_get_rbio(session->ssl), bytes, static_cast<int>(size)) ==
         static_cast<int>(size);
}

// What is wrong, from OpenSSL's list.
void explain(TlsSession* session, TlsErrorText& error) {
  const long verified = SSL_get_verify_result(session->ssl);
  if (ERR_GET_REASON(ERR_peek_last_error()) == SSL_R_CERTIFICATE_VERIFY_FAILED)
    std::snprintf(error, sizeof error, "certificate: %s", X509_verify_cert_error_string(verified));
  else
    std::snprintf(error, sizeof error, "%s", last_reason());
  ERR_clear_error();
}

bool is_waiting(SSL* ssl, int result) {
  const int error = SSL_get_error(ssl, result);
  return error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE;
}

int shake_hands(TlsSession* session, TlsErrorText& error) {
  ERR_clear_error();
  const int result = SSL_do_handshake(session->ssl);
  if (result != 1) return is_waiting(session->ssl, result) ? 0 : (explain(session, error), -1);
  if (session->context->server || !session->context->has_key ||
      SSL_session_reused(session->ssl) == 1)
    return 1;
  std::snprintf(error, sizeof error, "the server does not know the key of the store");
  return -1;
}

int read(TlsSession* session, char* bytes, int size, TlsErrorText& error) {
  ERR_clear_error();
  const int got = SSL_read(session->ssl, bytes, size);
  if (got > 0 || is_waiting(session->ssl, got)) return got > 0 ? got : 0;
  if (SSL_get_error(session->ssl, got) == SSL_ERROR_ZERO_RETURN) return -1;
  explain(session, error);
  return -2;
}

bool write(TlsSession* session, const char* bytes, int size) {
  ERR_clear_error();
  return SSL_write(session->ssl, bytes, size) == size;
}

void end(TlsSession* session) {
  SSL_shutdown(session->ssl);
  ERR_clear_error();
}

int take(TlsSession* session, char* bytes, int size) {
  const int got = BIO_read(SSL_get_wbio(session->ssl), bytes, size);
  return got > 0 ? got : 0;
}

bool used_shared_key(TlsSession* session) {
  return session->context->has_key && SSL_session_reused(session->ssl) == 1;
}

bool has_certificate(TlsSession* session) {
  return SSL_get0_peer_certificate(session->ssl) != nullptr &&
         SSL_get_verify_mode(session->ssl) != SSL_VERIFY_NONE &&
         SSL_get_verify_result(session->ssl) == X509_V_OK;
}

bool binding(TlsSession* session, unsigned char (&bytes)[kHmacBytes]) {
  return SSL_export_keying_material(session->ssl, bytes, sizeof bytes, kBindingLabel,
                                    std::strlen(kBindingLabel), nullptr, 0, 0) == 1;
}

}  // namespace
}  // namespace ddprun::guard

extern "C" [[gnu::visibility("default")]] const ddprun::guard::OpensslFunctions*
ddprun_openssl_2() {
  using namespace ddprun::guard;
  static constexpr OpensslFunctions kFunctions{.hmac = hmac,
                                               .new_context = new_context,
                                               .free_context = free_context,
                                               .new_session = new_session,
                                               .free_session = free_session,
                                               .receive = receive,
                                               .shake_hands = shake_hands,
                                               .read = read,
                                               .write = write,
                                               .end = end,
                                               .take = take,
                                               .used_shared_key = used_shared_key,
                                               .has_certificate = has_certificate,
                                               .binding = binding};
  return &kFunctions;
}
