#include "rendezvous/server/peer.h"

#include <algorithm>

namespace ddprun::server {
namespace {

namespace asio = boost::asio;

constexpr int kNetworkBytes = 8;

asio::ip::address plain_address(const asio::ip::address& address) {
  if (!address.is_v6() || !address.to_v6().is_v4_mapped()) return address;
  return asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6());
}

std::string without_interface(const asio::ip::address& address) {
  const std::string text = plain_address(address).to_string();
  return text.substr(0, text.find('%'));
}

}  // namespace

std::string to_text(const asio::ip::tcp::endpoint& peer) {
  const asio::ip::address address = plain_address(peer.address());
  const std::string text = address.to_string();
  return (address.is_v6() ? "[" + text + "]" : text) + ":" + std::to_string(peer.port());
}

bool is_loopback(const asio::ip::tcp::endpoint& peer) {
  return plain_address(peer.address()).is_loopback();
}

std::string address_text(const asio::ip::tcp::endpoint& peer) {
  return without_interface(peer.address());
}

std::string network_text(const asio::ip::tcp::endpoint& peer) {
  const asio::ip::address address = plain_address(peer.address());
  if (!address.is_v6()) return address.to_string();
  auto bytes = address.to_v6().to_bytes();
  std::fill(bytes.begin() + kNetworkBytes, bytes.end(), 0);
  // Each link has the network of its local addresses.
  return asio::ip::address_v6(bytes, address.to_v6().scope_id()).to_string() + "/64";
}

std::string plain_address_text(const std::string& literal) {
  boost::system::error_code error;
  const asio::ip::address address = asio::ip::make_address(literal, error);
  return error ? literal : without_interface(address);
}

}  // namespace ddprun::server
