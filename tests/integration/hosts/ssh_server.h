// A real sshd for a test: its own keys, a free port, some addresses of the loopback interface.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/integration/support/loopback_port.h"
#include "tests/integration/support/run.h"
#include "tests/support/temporary_folder.h"

namespace ddprun::test {

// Why there can be no sshd here; empty where there can.
std::string no_sshd();

// Serves 127.0.0.2 to 127.0.0.5 until it is destroyed, and then every connection is closed.
class SshServer {
 public:
  // A std::runtime_error where it does not come up.
  SshServer();
  ~SshServer();
  SshServer(const SshServer&) = delete;

  // The words for ddprun that lead here: --rsh with a configuration of the test's own.
  std::vector<std::string> rsh() const { return {"--rsh", "ssh -F " + path("config")}; }
  // The same with a key that the server does not know, and without a key for the host.
  std::vector<std::string> rsh_with_wrong_key() const {
    return {"--rsh", "ssh -F " + path("config_wrong_key")};
  }
  std::vector<std::string> rsh_to_stranger() const {
    return {"--rsh", "ssh -F " + path("config_stranger")};
  }
  std::string path(const std::string& name) const { return folder_.path() + "/" + name; }
  // "PORT" of the server.
  const std::string& port() const { return port_; }
  // Processes of sshd that hold a connection, by pid.
  std::vector<pid_t> connections() const;

 private:
  void write_configurations() const;

  TemporaryFolder folder_;
  std::string port_;
  std::unique_ptr<Program> sshd_;
};

}  // namespace ddprun::test
