#include "tests/bench/training_job.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <sstream>
#include <stdexcept>

#include "tests/bench/stamps.h"

namespace ddprun::bench {
namespace {

constexpr int kRanks = 2;
constexpr int kPatienceMs = 120'000;

UniqueFd listen_at(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(socket.get(), kRanks) != 0)
    throw std::runtime_error("cannot listen at " + path);
  return socket;
}

}  // namespace

TrainingJob::TrainingJob(const Words& command, const std::string& model) {
  const std::string path = folder_ / "socket";
  const UniqueFd listener = listen_at(path);
  const std::int64_t start = now_ns();
  process_.emplace(command + Words{model, path});
  ended_.reset(static_cast<int>(::syscall(SYS_pidfd_open, process_->pid(), 0)));
  for (int rank = 0; rank < kRanks; ++rank) {
    wait_for_input(listener.get());
    connections_.emplace_back(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (line_from(connections_.back().get()) != "ready")
      throw std::runtime_error("a rank is not ready");
  }
  to_first_step_ = milliseconds(start, now_ns());
}

TrainingJob::~TrainingJob() {
  connections_.clear();  // the ranks end then, and with them the launcher
  process_->wait();
}

TrainingJob::Turn TrainingJob::turn(int steps) {
  const std::string order = std::to_string(steps) + "\n";
  for (const UniqueFd& connection : connections_) {
    if (::send(connection.get(), order.data(), order.size(), MSG_NOSIGNAL) < 0)
      throw std::runtime_error("a rank has ended");
  }
  Turn slowest;
  for (const UniqueFd& connection : connections_) {
    Turn turn;
    std::istringstream answer(line_from(connection.get()));
    if (!(answer >> turn.milliseconds >> turn.peak_megabytes))
      throw std::runtime_error("a rank answered '" + answer.str() + "'");
    slowest.milliseconds = std::max(slowest.milliseconds, turn.milliseconds);
    slowest.peak_megabytes = std::max(slowest.peak_megabytes, turn.peak_megabytes);
  }
  return slowest;
}

void TrainingJob::wait_for_input(int fd) const {
  pollfd waited[] = {{fd, POLLIN, 0}, {ended_.get(), POLLIN, 0}};
  if (::poll(waited, 2, kPatienceMs) < 1)
    throw std::runtime_error("a training was silent for two minutes");
  if (waited[0].revents == 0) throw std::runtime_error("a training ended early");
}

std::string TrainingJob::line_from(int connection) const {
  std::string line;
  for (char next = 0; next != '\n'; line += next) {
    wait_for_input(connection);
    if (::read(connection, &next, 1) != 1) throw std::runtime_error("a rank has ended");
  }
  line.pop_back();
  return line;
}

}  // namespace ddprun::bench
