// What the ddprun of a node tells the one that has started it, see launcher/relay.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "launcher/cli/environment.h"
#include "rendezvous/base/unique_fd.h"

namespace ddprun::agent {

// The environment names a descriptor (cluster::kHostsChannel) and the node; without it nobody has
// started this ddprun but the user.
class Upstream {
 public:
  // Null where there is none. Takes the descriptor, and keeps it from workers.
  static std::shared_ptr<Upstream> of(const cli::Environment& environment);

  // The nodes can meet here.
  void listening(std::uint16_t port);
  // The last words of this node, whole lines. `happened_here`: what has ended the job did.
  void report(bool happened_here, const std::string& text);

 private:
  Upstream(UniqueFd fd, int index) : fd_(std::move(fd)), index_(index) {}
  // Blocks where the pipe is full, which these few bytes do not make it.
  void write(const std::string& bytes);

  UniqueFd fd_;
  int index_;
};

}  // namespace ddprun::agent
