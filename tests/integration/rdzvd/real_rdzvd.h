// A real rdzvd on a port of the system's choice.
#pragma once

#include <gmock/gmock.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "rendezvous/base/first_line.h"
#include "rendezvous/base/read_file.h"
#include "tests/integration/support/run.h"
#include "tests/unit/server/raw_agent.h"

namespace ddprun::test {

class RealRdzvd {
 public:
  // With a `log` what it writes to stderr is in that file, for one that writes more than a pipe
  // holds.
  explicit RealRdzvd(std::vector<std::string> options = {}, RunOptions run = {},
                     const std::string& log = "")
      : program_(words(std::move(options), log), std::move(run)) {
    EXPECT_TRUE(program_.wait_for_output("\n")) << "it does not listen";
    address_ = first_line(program_.out());
    port_ = static_cast<std::uint16_t>(std::atoi(address_.c_str() + address_.rfind(':') + 1));
  }

  // As it has printed it.
  const std::string& address() const { return address_; }
  std::uint16_t port() const { return port_; }
  Program& program() { return program_; }
  // Kilobytes of memory in use; -1 if it does not run.
  long resident() const {
    const std::string status =
        read_file("/proc/" + std::to_string(program_.pid()) + "/status").value_or("");
    const std::size_t at = status.find("VmRSS:");
    return at == std::string::npos ? -1 : std::atol(status.c_str() + at + 6);
  }
  // Sends SIGTERM and returns how it ended.
  Finished stop() {
    ::kill(program_.pid(), SIGTERM);
    return program_.finish();
  }

 private:
  static std::vector<std::string> words(std::vector<std::string> options, const std::string& log) {
    std::vector<std::string> all{DDPRUN_RDZVD, "--listen", "127.0.0.1:0"};
    if (!log.empty()) all.insert(all.begin(), {"/bin/sh", "-c", "exec \"$@\" 2>" + log, "sh"});
    all.insert(all.end(), options.begin(), options.end());
    return all;
  }

  Program program_;
  std::string address_;
  std::uint16_t port_ = 0;
};

// Raises the soft limit of open files, and the hard one where that is allowed; returns the limit.
inline rlim_t allow_files(rlim_t wanted) {
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  const rlimit more{wanted, std::max(wanted, files.rlim_max)};
  if (::setrlimit(RLIMIT_NOFILE, &more) != 0) {
    files.rlim_cur = files.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &files);
  }
  ::getrlimit(RLIMIT_NOFILE, &files);
  return files.rlim_cur;
}

// The whole answer.
inline std::string get_page(std::uint16_t port, const std::string& target) {
  server::RawClient browser(port, false);
  browser.send("GET " + target + " HTTP/1.1\r\nHost: x\r\n\r\n");
  return browser.receive_all();
}

}  // namespace ddprun::test
