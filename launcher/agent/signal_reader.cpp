#include "launcher/agent/signal_reader.h"

#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace ddprun::agent {
namespace {

int open_signalfd(const std::vector<int>& signals) {
  sigset_t set;
  sigemptyset(&set);
  for (int signo : signals) sigaddset(&set, signo);
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
  const int fd = ::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  if (fd < 0) throw std::system_error(errno, std::generic_category(), "signalfd");
  return fd;
}

}  // namespace

SignalReader::SignalReader(boost::asio::io_context& io, const std::vector<int>& signals,
                           std::function<void(int)> on_signal)
    : descriptor_(io, open_signalfd(signals)), on_signal_(std::move(on_signal)) {
  wait();
}

void SignalReader::wait() {
  descriptor_.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                         [this](boost::system::error_code failed) {
                           if (failed) return;
                           read();
                           wait();
                         });
}

void SignalReader::read() {
  signalfd_siginfo info{};
  while (descriptor_.is_open() &&
         ::read(descriptor_.native_handle(), &info, sizeof info) == sizeof info)
    on_signal_(static_cast<int>(info.ssi_signo));
}

}  // namespace ddprun::agent
