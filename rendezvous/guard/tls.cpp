#include "rendezvous/guard/tls.h"

#include <fcntl.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include "rendezvous/base/unique_fd.h"
#include "rendezvous/guard/hex.h"
#include "rendezvous/guard/openssl.h"
#include "rendezvous/guard/secret_file.h"

namespace ddprun::guard {
namespace {

constexpr int kPiece = 16 << 10;  // the most that one record has

const char* text_of(const std::optional<std::string>& text) {
  return text ? text->c_str() : nullptr;
}

struct Advice {
  std::string_view found;
  std::string_view advice;
};
// By what OpenSSL says of it.
constexpr std::array kAdvice{
    Advice{"wrong version number", "the other side does not speak TLS"},
    Advice{"http request", "the other side does not speak TLS"},
    Advice{"certificate has expired",
           "make a new one for the server; is the clock of this host right?"},
    Advice{"certificate is not yet valid", "is the clock of this host right?"},
    Advice{"self-signed certificate",
           "give its own certificate, or the one of its CA, with --tls-ca"},
    Advice{"unable to get local issuer certificate",
           "--tls-ca has not the certificate of the CA that has signed it"},
    Advice{"alert unknown ca",
           "the other side's --tls-ca has not the CA that has signed the certificate shown here"},
    Advice{"alert certificate expired", "the certificate shown here: make a new one"},
    Advice{"unsupported protocol", "TLS 1.3 is needed"},
    Advice{"alert protocol version", "TLS 1.3 is needed"},
};

std::string_view advice_for(std::string_view why) {
  for (const Advice& each : kAdvice)
    if (why.find(each.found) != std::string_view::npos) return each.advice;
  return {};
}

}  // namespace

Result<void> check_files(bool server, const TlsFiles& files) {
  if (files.cert.has_value() != files.key.has_value())
    return Error{files.cert ? "--tls-cert needs --tls-key FILE, with the private key"
                            : "--tls-key needs --tls-cert FILE, with the certificate"};
  if (server && files.ca && !files.cert)
    return Error{
        "--tls-ca says whose certificates clients have to show; a server needs its own for "
        "that, with --tls-cert and --tls-key"};
  if (!files.key) return {};
  const UniqueFd key(::open(files.key->c_str(), O_RDONLY | O_CLOEXEC));
  if (!key) return Error{"the private key " + *files.key + ": " + std::strerror(errno)};
  if (const auto secret = check_secret(key.get(), *files.key, "the private key"); !secret)
    return Error{"the private key " + secret.error().text};
  return {};
}

Result<std::shared_ptr<Tls>> Tls::make(Description description) {
  auto openssl = Openssl::open();
  if (!openssl) return Error{"TLS needs OpenSSL: " + openssl.error().text};
  std::shared_ptr<Tls> tls(new Tls(std::move(*openssl), std::move(description)));
  if (const auto read = tls->read_again(); !read) return read.error();
  return tls;
}

Result<void> Tls::read_again() {
  const auto& [server, files, shared_key, peer] = description_;
  if (const auto fit = check_files(server, files); !fit) return fit.error();
  const auto key = from_hex(shared_key);
  if (!key || (!key->empty() && key->size() != kTlsKeyBytes))
    return Error{"the key of the store is not one"};
  TlsErrorText error{};
  const TlsIdentity identity{
      .server = server,
      .cert = text_of(files.cert),
      .key = text_of(files.key),
      .ca = text_of(files.ca),
      .shared_key = key->empty() ? nullptr : reinterpret_cast<const unsigned char*>(key->data())};
  TlsContext* context = openssl_->functions().new_context(identity, error);
  if (context == nullptr) return Error{std::string("TLS: ") + error};
  context_.reset(context,
                 [openssl = openssl_](TlsContext* old) { openssl->functions().free_context(old); });
  return {};
}

Result<std::shared_ptr<Tls>> Tls::server(const TlsFiles& files, const std::string& shared_key) {
  return make({.server = true, .files = files, .shared_key = shared_key, .peer = {}});
}

Result<std::shared_ptr<Tls>> Tls::client(const TlsFiles& files, const std::string& peer) {
  return make({.server = false, .files = files, .shared_key = {}, .peer = peer});
}

std::shared_ptr<const Tls> Tls::for_peer(const std::string& peer) const {
  const std::shared_ptr<Tls> other(new Tls(*this));
  other->description_.peer = peer;
  return other;
}

Result<std::shared_ptr<Tls>> Tls::client_with(const std::string& shared_key) {
  return make({.server = false, .files = {}, .shared_key = shared_key, .peer = {}});
}

TlsStream::TlsStream(const std::shared_ptr<const Tls>& tls)
    : openssl_(tls->openssl_),
      context_(tls->context_),
      session_(openssl_->functions().new_session(
          context_.get(),
          tls->description_.peer.empty() ? nullptr : tls->description_.peer.c_str())),
      peer_(tls->description_.peer) {
  if (session_ == nullptr) throw std::bad_alloc();
}

TlsStream::~TlsStream() {
  if (session_ != nullptr) openssl_->functions().free_session(session_);
}

TlsStream::TlsStream(TlsStream&& other) noexcept
    : openssl_(other.openssl_),
      context_(other.context_),
      session_(std::exchange(other.session_, nullptr)),
      peer_(std::move(other.peer_)),
      facts_(std::move(other.facts_)),
      ended_(other.ended_) {}

Result<void> TlsStream::receive(std::string_view ciphertext, std::string& in, std::string& out) {
  if (!ciphertext.empty() &&
      !openssl_->functions().receive(session_, ciphertext.data(), ciphertext.size()))
    throw std::bad_alloc();
  Result<void> result;
  if (!facts_.open) result = shake_hands();
  if (result && facts_.open) result = read(in);
  take(out);
  return result;
}

Result<void> TlsStream::shake_hands() {
  const OpensslFunctions& functions = openssl_->functions();
  TlsErrorText error{};
  const int state = functions.shake_hands(session_, error);
  if (state < 0) return explained(error);
  if (state == 0) return {};
  facts_.open = true;
  facts_.used_shared_key = functions.used_shared_key(session_);
  facts_.has_certificate = functions.has_certificate(session_);
  unsigned char bytes[kHmacBytes] = {};
  if (!functions.binding(session_, bytes)) return explained("it has no binding");
  facts_.binding = to_hex({reinterpret_cast<const char*>(bytes), sizeof bytes});
  return {};
}

Result<void> TlsStream::read(std::string& in) {
  std::array<char, kPiece> bytes;
  TlsErrorText error{};
  while (!ended_) {
    const int size = openssl_->functions().read(session_, bytes.data(), kPiece, error);
    if (size == 0) break;
    if (size == -1) ended_ = true;
    if (size < -1) return explained(error);
    if (size > 0) in.append(bytes.data(), static_cast<std::size_t>(size));
  }
  return {};
}

void TlsStream::send(std::string_view plaintext, std::string& out) {
  while (!plaintext.empty()) {
    const std::string_view piece = plaintext.substr(0, kPiece);
    openssl_->functions().write(session_, piece.data(), static_cast<int>(piece.size()));
    plaintext.remove_prefix(piece.size());
    take(out);
  }
}

void TlsStream::end(std::string& out) {
  if (facts_.open) openssl_->functions().end(session_);
  take(out);
}

void TlsStream::take(std::string& out) {
  std::array<char, kPiece> bytes;
  while (true) {
    const int size = openssl_->functions().take(session_, bytes.data(), kPiece);
    if (size == 0) return;
    out.append(bytes.data(), static_cast<std::size_t>(size));
  }
}

Error TlsStream::explained(const std::string& why) const {
  if (why.find("mismatch") != std::string::npos)
    return Error{"the server's certificate is not for " + peer_ + " (" + why +
                 "); name the server as its certificate does, or make one that has this "
                 "name or address (subjectAltName)"};
  const std::string_view advice = advice_for(why);
  return Error{why + (advice.empty() ? "" : "; " + std::string(advice))};
}

}  // namespace ddprun::guard
