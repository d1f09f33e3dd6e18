// The floor of a store server: one thread, one epoll, no more than what the clients of this folder
// say, no check of anything. Prints its port and stays until it is killed.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "rendezvous/protocol/operations.h"

namespace {

using ddprun::protocol::Operation;

// What is left of the bytes that have arrived; whole requests come in one piece here.
class Operands {
 public:
  explicit Operands(std::string_view bytes) : bytes_(bytes) {}

  bool empty() const { return bytes_.empty(); }
  template <class T>
  T take() {
    T value;
    std::memcpy(&value, text(sizeof value).data(), sizeof value);
    return value;
  }
  std::string_view text(std::size_t size) {
    if (size > bytes_.size()) throw std::runtime_error("a request in two pieces");
    const std::string_view found = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return found;
  }
  std::string key() { return std::string(text(take<std::uint64_t>())); }

 private:
  std::string_view bytes_;
};

template <class T>
void append(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

class Server {
 public:
  Server() : epoll_(::epoll_create1(0)), listener_(::socket(AF_INET, SOCK_STREAM, 0)) {
    rlimit files{};
    ::getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &files);
    address_.sin_family = AF_INET;
    address_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address_;
    auto* generic = reinterpret_cast<sockaddr*>(&address_);
    if (::bind(listener_, generic, size) != 0 || ::listen(listener_, SOMAXCONN) != 0 ||
        ::getsockname(listener_, generic, &size) != 0)
      throw std::runtime_error("cannot listen");
    watch(listener_);
  }

  int port() const { return ntohs(address_.sin_port); }

  [[noreturn]] void run() {
    std::array<epoll_event, 128> events;
    for (;;) {
      const int count = ::epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), -1);
      for (int i = 0; i < count; ++i) {
        const int fd = events[static_cast<std::size_t>(i)].data.fd;
        if (fd == listener_)
          accept_one();
        else
          serve(fd);
      }
    }
  }

 private:
  void watch(int fd) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = fd;
    ::epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event);
  }

  void accept_one() {
    const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    const int on = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    watch(fd);
  }

  void serve(int fd) {
    const ssize_t size = ::recv(fd, buffer_.data(), buffer_.size(), 0);
    if (size <= 0) {
      ::close(fd);
      return;
    }
    Operands operands({buffer_.data(), static_cast<std::size_t>(size)});
    reply_.clear();
    while (!operands.empty()) apply(fd, operands);
    if (!reply_.empty()) ::send(fd, reply_.data(), reply_.size(), MSG_NOSIGNAL);
  }

  void apply(int fd, Operands& operands) {
    switch (const auto operation = static_cast<Operation>(operands.take<std::uint8_t>())) {
      case Operation::kValidate:
        operands.take<std::uint32_t>();
        return;
      case Operation::kPing:
        return append(reply_, operands.take<std::uint32_t>());
      case Operation::kAdd: {
        std::int64_t& number = numbers_[operands.key()];
        number += operands.take<std::int64_t>();
        return append(reply_, number);
      }
      case Operation::kSet: {
        std::string key = operands.key();
        values_[key] = operands.key();
        return wake(key);
      }
      case Operation::kWait: {
        operands.take<std::uint64_t>();
        std::string key = operands.key();
        if (values_.contains(key))
          reply_ += '\0';
        else
          waiting_[key].push_back(fd);
        return;
      }
      case Operation::kGet: {
        const std::string& value = values_[operands.key()];
        append<std::uint64_t>(reply_, value.size());
        reply_ += value;
        return;
      }
      default:
        throw std::runtime_error("operation " + std::to_string(static_cast<int>(operation)));
    }
  }

  void wake(const std::string& key) {
    const auto found = waiting_.find(key);
    if (found == waiting_.end()) return;
    for (const int fd : found->second) ::send(fd, "", 1, MSG_NOSIGNAL);
    waiting_.erase(found);
  }

  int epoll_, listener_;
  sockaddr_in address_{};
  std::array<char, 65536> buffer_;
  std::string reply_;
  std::unordered_map<std::string, std::int64_t> numbers_;
  std::unordered_map<std::string, std::string> values_;
  std::unordered_map<std::string, std::vector<int>> waiting_;
};

}  // namespace

int main() {
  Server server;
  std::printf("%d\n", server.port());
  std::fflush(stdout);
  server.run();
}
