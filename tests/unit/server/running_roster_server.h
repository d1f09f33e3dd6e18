// A roster server on its own thread, on a port of the system's choice.
#pragma once

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <functional>
#include <future>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "rendezvous/server/roster_server.h"
#include "tests/unit/server/raw_agent.h"

namespace ddprun::server {

class RunningRosterServer {
 public:
  explicit RunningRosterServer(RosterServerOptions options = {}) {
    if (options.identity.host.empty()) options.identity.host = "head";
    if (options.identity.version.empty()) options.identity.version = "0.1.0";
    options.log = [this](Severity severity, const std::string& line) {
      const std::lock_guard lock(mutex_);
      lines_.emplace_back(severity, line);
    };
    server_ = std::move(RosterServer::listen(io_, std::move(options)).value());
    port_ = server_->port();
    thread_ = std::thread([this] { io_.run(); });
  }
  ~RunningRosterServer() { close(); }

  std::uint16_t port() const { return port_; }

  // On the server's thread.
  template <class Function>
  auto on_thread(Function function) {
    std::packaged_task<decltype(function(*server_))()> task([&] { return function(*server_); });
    auto answer = task.get_future();
    boost::asio::post(io_, [&task] { task(); });
    return answer.get();
  }
  RosterServerStatistics statistics() {
    return on_thread([](RosterServer& server) { return server.statistics(); });
  }
  void await(const std::function<bool(const RosterServerStatistics&)>& reached) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(kPatienceMs);
    while (!reached(statistics())) {
      ASSERT_LT(std::chrono::steady_clock::now(), deadline) << "the server did not get there";
      std::this_thread::yield();
    }
  }
  // Returns when the io_context has nothing left to do.
  void join_thread() {
    if (thread_.joinable()) thread_.join();
  }
  void close() {
    if (!thread_.joinable()) return;
    boost::asio::post(io_, [this] { server_.reset(); });
    join_thread();
  }

  // Of warnings and errors.
  std::vector<std::string> warnings() {
    const std::lock_guard lock(mutex_);
    std::vector<std::string> result;
    for (const auto& [severity, line] : lines_)
      if (severity >= Severity::warning) result.push_back(line);
    return result;
  }
  // Lines of that severity.
  std::size_t count(Severity wanted) {
    const std::lock_guard lock(mutex_);
    return static_cast<std::size_t>(
        std::ranges::count(lines_, wanted, [](const auto& each) { return each.first; }));
  }
  std::string only_warning() {
    const std::vector<std::string> all = warnings();
    EXPECT_EQ(all.size(), 1u);
    return all.empty() ? "" : all.front();
  }

 private:
  boost::asio::io_context io_{1};
  std::unique_ptr<RosterServer> server_;
  std::uint16_t port_ = 0;
  std::mutex mutex_;
  std::vector<std::pair<Severity, std::string>> lines_;
  std::thread thread_;
};

}  // namespace ddprun::server
