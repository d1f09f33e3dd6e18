#include "launcher/agent/store_proxy.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "rendezvous/base/unique_fd.h"
#include "rendezvous/client/look_up.h"
#include "rendezvous/guard/tls.h"
#include "rendezvous/guard/tls_pump.h"
#include "rendezvous/server/listener.h"

namespace ddprun::agent {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

constexpr int kLines = 5;                               // of failures, for the user
constexpr std::chrono::milliseconds kAcceptPause{100};  // without descriptors

}  // namespace

class StoreProxy::Impl : public std::enable_shared_from_this<StoreProxy::Impl> {
 public:
  Impl(asio::io_context& io, StoreProxyOptions options, server::Listener listener)
      : io_(io),
        options_(std::move(options)),
        port_(listener.port),
        listener_(io, listener.socket.release()),
        pause_(io) {}

  void start() {
    look_up_.emplace(io_, options_.host,
                     [self = weak_from_this()](Result<client::Addresses> found) {
                       if (const auto alive = self.lock()) alive->on_looked_up(std::move(found));
                     });
  }

  std::uint16_t port() const { return port_; }

  void close() {
    closed_ = true;
    look_up_.reset();
    pause_.cancel();
    if (listener_.is_open()) ::close(listener_.release());
    for (auto& [id, pump] : std::exchange(pumps_, {})) pump->close();
    for (auto& [id, socket] : std::exchange(connecting_, {})) {
      boost::system::error_code ignored;
      socket->close(ignored);
    }
  }

 private:
  void on_looked_up(Result<client::Addresses> found) {
    if (!found || found->empty())
      return say("the store's host '" + options_.host +
                 "' cannot be looked up: " + (found ? "no address" : found.error().text));
    store_ = tcp::endpoint(found->front(), options_.port);
    wait_for_workers();
  }

  void wait_for_workers() {
    listener_.async_wait(asio::posix::stream_descriptor::wait_read,
                         [self = shared_from_this()](boost::system::error_code error) {
                           if (!error && !self->closed_) self->accept();
                         });
  }

  void accept() {
    UniqueFd worker(
        ::accept4(listener_.native_handle(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (worker) {
      connect(std::move(worker));
    } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
      pause_.expires_after(kAcceptPause);
      return pause_.async_wait([self = shared_from_this()](boost::system::error_code canceled) {
        if (!canceled && !self->closed_) self->wait_for_workers();
      });
    }
    wait_for_workers();
  }

  void connect(UniqueFd worker) {
    const int on = 1;
    setsockopt(worker.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    const std::uint64_t id = ++last_;
    auto socket = std::make_shared<tcp::socket>(io_);
    connecting_.emplace(id, socket);
    auto held = std::make_shared<UniqueFd>(std::move(worker));
    socket->async_connect(
        *store_, [self = shared_from_this(), id, socket, held](boost::system::error_code failed) {
          self->connecting_.erase(id);
          if (self->closed_) return;
          if (failed) return self->say("the store cannot be reached: " + failed.message());
          self->pump(id, *socket, std::move(*held));
        });
  }

  void pump(std::uint64_t id, tcp::socket& socket, UniqueFd worker) {
    boost::system::error_code ignored;
    socket.set_option(tcp::no_delay(true), ignored);
    auto pump = std::make_shared<guard::TlsPump>(
        io_, UniqueFd(socket.release(ignored)), std::move(worker), guard::TlsStream(options_.tls),
        guard::TlsPump::Hooks{.on_open =
                                  [self = weak_from_this(), id](const guard::TlsFacts&) {
                                    if (const auto alive = self.lock()) alive->open_.insert(id);
                                  },
                              .on_end =
                                  [self = weak_from_this(), id](const guard::TlsEnd& end) {
                                    if (const auto alive = self.lock()) alive->on_end(id, end.why);
                                  }});
    pumps_.emplace(id, pump);
    pump->start();
  }

  // How an open connection ends is the workers' business.
  void on_end(std::uint64_t id, const std::string& why) {
    pumps_.erase(id);
    if (open_.erase(id) == 0 && !why.empty())
      say("the store does not let a worker in: TLS: " + why);
  }

  void say(const std::string& line) {
    if (said_++ < kLines)
      options_.say(line + " (" + options_.host + ":" + std::to_string(options_.port) + ")");
  }

  asio::io_context& io_;
  StoreProxyOptions options_;
  std::uint16_t port_;
  asio::posix::stream_descriptor listener_;
  asio::steady_timer pause_;
  std::optional<client::LookUp> look_up_;
  std::optional<tcp::endpoint> store_;
  std::map<std::uint64_t, std::shared_ptr<tcp::socket>> connecting_;
  std::map<std::uint64_t, std::shared_ptr<guard::TlsPump>> pumps_;
  std::set<std::uint64_t> open_;  // of pumps_, those whose handshake is over
  std::uint64_t last_ = 0;
  int said_ = 0;
  bool closed_ = false;
};

Result<std::unique_ptr<StoreProxy>> StoreProxy::listen(asio::io_context& io,
                                                       StoreProxyOptions options) {
  auto listener = server::open_listener("127.0.0.1", 0, "");
  if (!listener) return listener.error();
  auto impl = std::make_shared<Impl>(io, std::move(options), std::move(*listener));
  impl->start();
  return std::unique_ptr<StoreProxy>(new StoreProxy(std::move(impl)));
}

StoreProxy::StoreProxy(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

StoreProxy::~StoreProxy() {
  impl_->close();
}

std::uint16_t StoreProxy::port() const {
  return impl_->port();
}

}  // namespace ddprun::agent
