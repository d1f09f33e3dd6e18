// Where TLS ends: takes connections that speak it and gives plain sockets for them. One thread.
#pragma once

#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>

#include "rendezvous/base/result.h"
#include "rendezvous/base/unique_fd.h"
#include "rendezvous/guard/tls.h"
#include "rendezvous/guard/tls_pump.h"

namespace ddprun::server {

class TlsDoor {
 public:
  TlsDoor(boost::asio::io_context& io, std::shared_ptr<const guard::Tls> tls)
      : io_(io), tls_(std::move(tls)) {}
  ~TlsDoor() { close(); }
  TlsDoor(const TlsDoor&) = delete;
  TlsDoor& operator=(const TlsDoor&) = delete;

  // `facts` is filled when the handshake is over, before the first byte comes. The pump is yet to
  // be started. `on_failed`: the handshake has failed, and why.
  Result<guard::PumpedSocket> open(UniqueFd socket, std::shared_ptr<guard::TlsFacts> facts,
                                   std::function<void(const std::string&)> on_failed);

  // Connections that the server has ended and whose clients have not gone yet.
  std::size_t leaving() const { return leaving_.size(); }
  // Closes the oldest of them; false if there is none.
  bool end_oldest_leaving();

  // Handshakes that did.
  std::uint64_t failed() const { return failed_; }
  // Closes every connection; nothing is called any more.
  void close();

 private:
  boost::asio::io_context& io_;
  std::shared_ptr<const guard::Tls> tls_;
  std::unordered_map<std::uint64_t, std::shared_ptr<guard::TlsPump>> pumps_;
  std::set<std::uint64_t> leaving_;  // ids grow, so by age
  std::uint64_t last_ = 0;
  std::uint64_t failed_ = 0;
};

}  // namespace ddprun::server
