#include "tests/integration/hosts/ssh_server.h"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "launcher/process/children.h"

namespace ddprun::test {
namespace {

constexpr const char* kSshd = "/usr/sbin/sshd";
// As where the package is installed.
const std::string kProgramsThere = DDPRUN_PROGRAMS ":/usr/local/bin:/usr/bin:/bin";

void write(const std::string& path, const std::string& text) {
  std::ofstream(path) << text;
  ::chmod(path.c_str(), 0600);
}

void make_key(const std::string& path) {
  if (run({"/usr/bin/ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", path}).code != 0)
    throw std::runtime_error("no key " + path);
}

std::string text_of(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Of one that other tests may take in the meantime, so the server is tried again.
std::string some_port() {
  return std::to_string(LoopbackPort().number());
}

}  // namespace

std::string no_sshd() {
  if (::access(kSshd, X_OK) != 0) return "there is no sshd (Debian: openssh-server)";
  if (::access("/usr/bin/ssh", X_OK) != 0) return "there is no ssh (Debian: openssh-client)";
  if (::geteuid() != 0) return "sshd wants to be started by root";
  return "";
}

SshServer::SshServer() {
  ::mkdir("/run/sshd", 0755);  // where its unprivileged half lives; packages leave it to systemd
  for (const char* key : {"host", "user", "stranger"}) make_key(path(key));
  std::filesystem::copy_file(path("user.pub"), path("authorized"));
  for (int tries = 0; tries < 5; ++tries) {
    port_ = some_port();
    std::string config = "HostKey " + path("host") + "\nAuthorizedKeysFile " + path("authorized") +
                         "\nPidFile none\nStrictModes no\nUsePAM no\nPermitRootLogin yes\n"
                         "PasswordAuthentication no\nMaxStartups 100\nSetEnv PATH=" +
                         kProgramsThere + "\nPort " + port_ + "\n";
    for (const char* address : {"127.0.0.2", "127.0.0.3", "127.0.0.4", "127.0.0.5"})
      config += "ListenAddress " + std::string(address) + "\n";
    write(path("sshd_config"), config);
    sshd_ = std::make_unique<Program>(
        std::vector<std::string>{kSshd, "-D", "-e", "-f", path("sshd_config")},
        RunOptions{.limit = std::chrono::seconds(80)});
    if (!sshd_->wait_for_error("Server listening on 127.0.0.2 port")) continue;
    write_configurations();
    return;
  }
  throw std::runtime_error("sshd does not come up: " + sshd_->finish().err);
}

SshServer::~SshServer() {
  for (const pid_t pid : process::descendants_of(sshd_->pid())) ::kill(pid, SIGKILL);
}

std::vector<pid_t> SshServer::connections() const {
  return process::children_of(sshd_->pid());
}

void SshServer::write_configurations() const {
  write(path("known"), "* " + text_of(path("host.pub")));
  write(path("nobody"), "");
  const auto config = [this](const char* key, const char* known) {
    return "Host *\n  Port " + port_ + "\n  User root\n  IdentitiesOnly yes\n  IdentityFile " +
           path(key) + "\n  UserKnownHostsFile " + path(known) +
           "\n  GlobalKnownHostsFile /dev/null\n  StrictHostKeyChecking yes\n"
           "Host gpu01\n  HostName 127.0.0.2\nHost gpu02\n  HostName 127.0.0.3\n";
  };
  write(path("config"), config("user", "known"));
  write(path("config_wrong_key"), config("stranger", "known"));
  write(path("config_stranger"), config("user", "nobody"));
}

}  // namespace ddprun::test
