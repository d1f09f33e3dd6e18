#include "rendezvous/server/peer.h"

namespace ddprun::server {
namespace {

namespace asio = boost::asio;

asio::ip::address plain_address(const asio::ip::tcp::endpoint& peer) {
  const asio::ip::address address = peer.address();
  if (!address.is_v6() || !address.to_v6().is_v4_mapped()) return address;
  return asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6());
}

}  // namespace

std::string to_text(const asio::ip::tcp::endpoint& peer) {
  const asio::ip::address address = plain_address(peer);
  const std::string text = address.to_string();
  return (address.is_v6() ? "[" + text + "]" : text) + ":" + std::to_string(peer.port());
}

bool is_loopback(const asio::ip::tcp::endpoint& peer) {
  return plain_address(peer).is_loopback();
}

}  // namespace ddprun::server
