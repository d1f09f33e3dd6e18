#include "worker_sdk/src/broken_pipe.h"

#include <signal.h>

#include <csignal>

namespace ddp::detail {

void ignore_broken_pipes() {
  struct sigaction now {};
  if (sigaction(SIGPIPE, nullptr, &now) == 0 && now.sa_handler == SIG_DFL) {
    std::signal(SIGPIPE, SIG_IGN);
  }
}

}  // namespace ddp::detail
