// A rendezvous server that says one thing.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <list>
#include <string>
#include <utility>

#include "rendezvous/base/endpoint.h"
#include "rendezvous/protocol/roster_codec.h"
#include "rendezvous/protocol/roster_frames.h"

namespace ddprun::client {

// Says the same to each that comes, while the event loop runs.
class Answering {
 public:
  explicit Answering(boost::asio::io_context& io)
      : acceptor_(io, boost::asio::ip::tcp::endpoint(boost::asio::ip::address_v4::loopback(), 0)) {}

  Endpoint endpoint() const { return {"127.0.0.1", acceptor_.local_endpoint().port()}; }
  std::string text() const { return to_text(endpoint()); }
  int visits() const { return visits_; }
  void say(const protocol::ServerMessage& message) {
    opening_.clear();
    protocol::encode_opening(opening_, protocol::kRosterProtocol);
    protocol::encode(bytes_, message);
    accept();
  }
  // The same, so long behind the opening.
  void say_after(std::chrono::milliseconds pause, const protocol::ServerMessage& message) {
    pause_ = pause;
    say(message);
  }
  void say_nonsense() {
    bytes_ = "HTTP/1.1 400 Bad Request\r\n\r\n";
    accept();
  }
  // Nobody listens there any more.
  void end() { acceptor_.close(); }

 private:
  void accept() {
    acceptor_.async_accept([this](auto failed, boost::asio::ip::tcp::socket peer) {
      if (failed) return;
      ++visits_;
      peers_.push_back({std::move(peer), boost::asio::steady_timer(acceptor_.get_executor())});
      answer(peers_.back());
      accept();
    });
  }
  struct Peer {
    boost::asio::ip::tcp::socket socket;
    boost::asio::steady_timer timer;
  };
  void answer(Peer& peer) {
    write(peer, opening_);
    if (pause_ <= pause_.zero()) return write(peer, bytes_);
    peer.timer.expires_after(pause_);
    peer.timer.async_wait([this, &peer](auto canceled) {
      if (!canceled) write(peer, bytes_);
    });
  }
  static void write(Peer& peer, const std::string& bytes) {
    boost::system::error_code ignored;
    boost::asio::write(peer.socket, boost::asio::buffer(bytes), ignored);
  }

  boost::asio::ip::tcp::acceptor acceptor_;
  std::string opening_;
  std::string bytes_;
  std::chrono::milliseconds pause_{0};
  std::list<Peer> peers_;
  int visits_ = 0;
};

}  // namespace ddprun::client
