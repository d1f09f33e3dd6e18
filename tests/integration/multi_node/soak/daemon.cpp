#include "tests/integration/multi_node/soak/daemon.h"

#include <signal.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <utility>

#include "launcher/process/children.h"
#include "rendezvous/base/read_file.h"
#include "tests/integration/multi_node/soak/ports.h"

namespace ddprun::nodes_soak {

Daemon::Daemon(std::string program, std::string log)
    : program_(std::move(program)), log_(std::move(log)) {
  for (int i = 0; i < 100; ++i) {
    port_ = lasting_port(i);
    if (try_start()) return;
  }
  throw std::runtime_error("rdzvd finds no port to listen on; see " + log_);
}

bool Daemon::try_start() {
  running_ = std::make_unique<test::Program>(
      std::vector<std::string>{"/bin/sh", "-c", "log=$1; shift; exec \"$@\" 2>>$log", "sh", log_,
                               program_, "--listen", "127.0.0.1:" + std::to_string(port_)},
      test::RunOptions{.environment = {}, .input = {}, .limit = std::chrono::hours(10)});
  return running_->wait_for_output("\n");
}

void Daemon::start() {
  if (!running_ && !try_start())
    throw std::runtime_error("rdzvd cannot be started again on port " + std::to_string(port_) +
                             "; see " + log_);
}

void Daemon::end(int signo) {
  if (!running_) return;
  ::kill(running_->pid(), SIGCONT);
  ::kill(running_->pid(), signo);
  running_->finish();
  running_.reset();
}

void Daemon::stop() {
  if (running_) ::kill(running_->pid(), SIGSTOP);
}

void Daemon::go_on() {
  if (running_) ::kill(running_->pid(), SIGCONT);
}

bool Daemon::is_alive() const {
  return running_ && process::is_alive(running_->pid());
}

long Daemon::kilobytes() const {
  if (!is_alive()) return -1;
  const std::string status =
      read_file("/proc/" + std::to_string(running_->pid()) + "/status").value_or("");
  const std::size_t at = status.find("VmRSS:");
  return at == std::string::npos ? -1 : std::atol(status.c_str() + at + 6);
}

long Daemon::descriptors() const {
  if (!is_alive()) return -1;
  const std::filesystem::directory_iterator all("/proc/" + std::to_string(running_->pid()) + "/fd");
  return std::distance(std::filesystem::begin(all), std::filesystem::end(all));
}

}  // namespace ddprun::nodes_soak
