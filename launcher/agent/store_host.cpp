#include "launcher/agent/store_host.h"

#include <string>
#include <utility>

#include "launcher/agent/agent.h"

namespace ddprun::agent {
namespace {

constexpr int kStoreLines = 20;

}  // namespace

server::ServerOptions store_options(const cli::JobSpec& spec) {
  server::ServerOptions options;
  options.address = store_address(spec);
  options.port = spec.master_port.value_or(0);
  options.port_advice =
      "stop it, give another --master-port, or leave it out to let the system choose";
  return options;
}

StoreHost::StoreHost(boost::asio::io_context& io, server::ServerOptions options,
                     output::Output& output)
    : io_(io), options_(std::move(options)), output_(output) {}

Result<std::uint16_t> StoreHost::open_round() {
  if (server_ && options_.port != 0) {
    server_->start_over();
    return server_->port();
  }
  auto server = listen();
  if (!server) return server.error();
  server_ = std::move(*server);
  return server_->port();
}

Result<std::uint16_t> StoreHost::open_next_round() {
  if (!server_ || options_.port != 0) return open_round();
  auto server = listen();
  if (!server) return server.error();
  earlier_.push_back(std::exchange(server_, std::move(*server)));
  return server_->port();
}

void StoreHost::admit(const std::vector<std::string>& addresses) {
  if (server_) server_->admit(addresses);
}

std::uint64_t StoreHost::clients() const {
  std::uint64_t clients = server_ ? server_->statistics().connections : 0;
  for (const auto& each : earlier_) clients += each->statistics().connections;
  return clients;
}

Result<void> StoreHost::try_to_listen(boost::asio::io_context& io, const cli::JobSpec& spec) {
  const auto server = server::Server::listen(io, store_options(spec));
  if (!server) return server.error();
  (*server)->close();
  return {};
}

void StoreHost::stop_listening() {
  if (server_) server_->stop_listening();
}

void StoreHost::close() {
  if (server_) server_->close();
}

Result<std::unique_ptr<server::Server>> StoreHost::listen() {
  server::ServerOptions options = options_;
  // Strangers that knock all the time must not fill the user's screen, or our memory.
  options.log = [&output = output_, left = kStoreLines](const std::string& line) mutable {
    if (left-- > 0) output.note("ddprun: store: " + line);
    if (left == 0) output.note("ddprun: store: more of this kind is not shown");
  };
  return server::Server::listen(io_, std::move(options));
}

}  // namespace ddprun::agent
