// One connection of somebody who comes from an address of his own, by TLS where it is wanted.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "rendezvous/base/unique_fd.h"
#include "rendezvous/guard/tls.h"

namespace ddprun::crowd {

class Caller {
 public:
  // Connects to 127.0.0.1:`port` from the address `from`; not is_open() if that was refused.
  Caller(const std::string& from, std::uint16_t port);

  bool is_open() const { return static_cast<bool>(socket_); }
  // Before the server has anything to say: the kernel takes little for it.
  void take_little() const;
  // False if the server has closed.
  bool send_raw(std::string_view bytes) const;
  // What comes next; empty at the end of the connection or of ten seconds.
  std::string receive_raw() const;
  // Goes on by TLS; false if the server ends the handshake.
  bool shake_hands(const std::shared_ptr<const guard::Tls>& tls);
  // As whoever needs no more than the open connection.
  void forget_session() { session_.reset(); }
  // By TLS, if shake_hands() was.
  bool send(std::string_view bytes);
  std::string receive();
  void close() { socket_.reset(); }

 private:
  UniqueFd socket_;
  std::unique_ptr<guard::TlsStream> session_;
};

}  // namespace ddprun::crowd
