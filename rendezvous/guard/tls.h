// TLS 1.3 as bytes in and bytes out: what a session needs, and the session itself. No sockets.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "rendezvous/base/result.h"

namespace ddprun::guard {

class Openssl;
struct TlsContext;
struct TlsSession;

// Files in PEM.
struct TlsFiles {
  std::optional<std::string> cert;  // of this side, with those between it and the CA
  std::optional<std::string> key;   // its private key; only owner and group may read it
  std::optional<std::string> ca;    // whose signature the other side's certificate must have

  bool any() const { return cert || key || ca; }
};

// What all sessions of one kind have.
class Tls {
 public:
  // With a CA clients can show certificates, and the session tells whether they did. `shared_key`,
  // 64 hexadecimal digits: clients that have it need no certificate, and without files nobody else
  // gets in.
  static Result<std::shared_ptr<Tls>> server(const TlsFiles& files,
                                             const std::string& shared_key = {});
  // The server's certificate has to be signed by the CA and to be for `peer`, a name or an address.
  // cert and key, if they are there, are shown to a server that asks for them.
  static Result<std::shared_ptr<Tls>> client(const TlsFiles& files, const std::string& peer);
  // Of a client: the same files as they were read, for another server.
  std::shared_ptr<const Tls> for_peer(const std::string& peer) const;
  // The server has to have the shared key.
  static Result<std::shared_ptr<Tls>> client_with(const std::string& shared_key);

  // Reads the files again, for sessions that begin then. Error: nothing has changed.
  Result<void> read_again();

 private:
  friend class TlsStream;
  struct Description {
    bool server = false;
    TlsFiles files;
    std::string shared_key;
    std::string peer;  // what the server's certificate must be for; empty: it is not asked
  };
  static Result<std::shared_ptr<Tls>> make(Description description);
  Tls(std::shared_ptr<const Openssl> openssl, Description description)
      : openssl_(std::move(openssl)), description_(std::move(description)) {}

  std::shared_ptr<const Openssl> openssl_;
  Description description_;
  std::shared_ptr<TlsContext> context_;  // also held by the sessions that began with it
};

// What is known of the other side when the handshake is over.
struct TlsFacts {
  bool open = false;             // it is
  bool used_shared_key = false;  // it has the shared key
  bool has_certificate = false;  // it has shown a certificate of the CA
  std::string binding;           // of this session; see handshake.h
};

class TlsStream {
 public:
  explicit TlsStream(const std::shared_ptr<const Tls>& tls);
  ~TlsStream();
  TlsStream(TlsStream&& other) noexcept;
  TlsStream& operator=(TlsStream&&) = delete;

  // Takes what has arrived, appends what is to be sent to `out` and what can be read to `in`. A
  // client begins with nothing. Error: the connection is of no use; what is in `out` is to be sent
  // first. The text goes behind "TLS: " and has advice.
  Result<void> receive(std::string_view ciphertext, std::string& in, std::string& out);
  // The same for what is to be said. Only when it is open.
  void send(std::string_view plaintext, std::string& out);
  // Says that nothing more will be sent.
  void end(std::string& out);

  const TlsFacts& facts() const { return facts_; }
  bool is_open() const { return facts_.open; }
  // The other side has said that it sends nothing more.
  bool has_ended() const { return ended_; }

 private:
  Result<void> shake_hands();
  Result<void> read(std::string& in);
  void take(std::string& out);
  Error explained(const std::string& why) const;

  std::shared_ptr<const Openssl> openssl_;
  std::shared_ptr<TlsContext> context_;
  TlsSession* session_;
  std::string peer_;
  TlsFacts facts_;
  bool ended_ = false;
};

// Whether the files fit together, and nobody else may read the key; opens none of OpenSSL's. Error:
// names the option that is missing or the file that is wrong.
Result<void> check_files(bool server, const TlsFiles& files);

}  // namespace ddprun::guard
