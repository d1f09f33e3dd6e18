// Writes to a descriptor that we inherited, without ever blocking on its reader.
#pragma once

#include <sys/types.h>

#include <string_view>

#include "rendezvous/base/unique_fd.h"

namespace ddprun::output {

// The open file description behind our stdout is shared with the shell and with other programs, so
// O_NONBLOCK must not be set on it: a shell or a `cat` next to us would see its own reads and
// writes fail. A pipe or a terminal is therefore opened again through /proc/self/fd; sockets are
// written with MSG_DONTWAIT; files, which have no reader to wait for, directly. Where opening again
// is refused, poll() asks first and small writes follow.
class Sink {
 public:
  // Borrows `fd`, which must stay open. A closed `fd` is a sink that takes everything and keeps
  // nothing.
  // `may_reopen` false takes the way for descriptors that cannot be opened again.
  explicit Sink(int fd, bool may_reopen = true);

  bool is_terminal() const { return terminal_; }

  // Both descriptors lead to the same file, pipe or terminal, so what goes there must be put in one
  // order.
  bool same_file(const Sink& other) const;

  // The number of bytes taken, 0 when nothing can be taken at present, or a negative errno.
  // The process must ignore SIGPIPE; EPIPE means that the reader is gone.
  ssize_t write(std::string_view bytes) const;

  // A descriptor of ours to wait on after write() returned 0: writable when `waits_for_write()`,
  // else readable. Empty for files, whose write() never returns 0.
  UniqueFd make_waiter() const;
  bool waits_for_write() const { return kind_ == Kind::reopened; }

 private:
  enum class Kind { closed, file, reopened, socket, shared };

  ssize_t write_shared(std::string_view bytes) const;

  int fd_;
  Kind kind_ = Kind::closed;
  bool terminal_ = false;
  dev_t device_ = 0;
  ino_t inode_ = 0;
  UniqueFd own_;  // with Kind::reopened
};

}  // namespace ddprun::output
