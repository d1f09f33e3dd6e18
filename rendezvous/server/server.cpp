#include "rendezvous/server/server.h"

#include <utility>

#include "rendezvous/server/server_impl.h"

namespace ddprun::server {
namespace {

std::optional<Error> check_floor(const protocol::Limits& limits) {
  const protocol::Limits& floor = protocol::kLimitFloor;
  const auto below = [](const char* option, std::uint64_t value, std::uint64_t least) {
    return Error{std::string(option) + " is " + std::to_string(value) +
                 ", but PyTorch's clients need " + std::to_string(least)};
  };
  if (limits.max_key_bytes < floor.max_key_bytes) {
    return below("max_key_bytes", limits.max_key_bytes, floor.max_key_bytes);
  }
  if (limits.max_value_bytes < floor.max_value_bytes) {
    return below("max_value_bytes", limits.max_value_bytes, floor.max_value_bytes);
  }
  if (limits.max_keys_per_request < floor.max_keys_per_request) {
    return below("max_keys_per_request", limits.max_keys_per_request, floor.max_keys_per_request);
  }
  if (limits.max_request_bytes < floor.max_request_bytes) {
    return below("max_request_bytes", limits.max_request_bytes, floor.max_request_bytes);
  }
  return std::nullopt;
}

}  // namespace

Result<std::unique_ptr<Server>> Server::listen(boost::asio::io_context& io, ServerOptions options) {
  auto listener = open_listener(options.address, options.port, options.port_advice);
  if (!listener) return listener.error();
  return serve(io, std::move(options), std::move(*listener));
}

Result<std::unique_ptr<Server>> Server::serve(boost::asio::io_context& io, ServerOptions options,
                                              Listener listener) {
  if (const auto error = check_floor(options.limits)) return *error;
  auto events = SocketEvents::open();
  if (!events) return events.error();
  auto impl =
      std::make_shared<Impl>(io, std::move(options), std::move(listener), std::move(*events));
  impl->start();
  return std::unique_ptr<Server>(new Server(std::move(impl)));
}

Server::Server(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

Server::~Server() {
  close();
}

std::uint16_t Server::port() const {
  return impl_->port();
}

void Server::start_over() {
  impl_->start_over();
}

void Server::admit(const std::vector<std::string>& addresses) {
  impl_->admit(addresses);
}

void Server::stop_listening() {
  impl_->stop_listening();
}

void Server::close() {
  impl_->close();
}

ServerStatistics Server::statistics() const {
  return impl_->statistics();
}

}  // namespace ddprun::server
