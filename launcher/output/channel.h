// The pipe or pseudo-terminal between a worker's stdout or stderr and us.
#pragma once

#include "rendezvous/base/result.h"
#include "rendezvous/base/unique_fd.h"

namespace ddprun::output {

enum class ChannelKind { pipe, pty };

// --output auto: a terminal for the worker where ours is one, so that its C library flushes every
// line; else a pipe.
inline ChannelKind automatic_kind(bool our_stream_is_terminal) {
  return our_stream_is_terminal ? ChannelKind::pty : ChannelKind::pipe;
}

// Both ends close on exec. `read_end` does not block; reading it gives 0 (pipe) or EIO (pty) once
// every copy of `write_end` is closed.
struct Channel {
  UniqueFd read_end;
  UniqueFd write_end;
};

// A pseudo-terminal is raw: no echo, no translation of newlines, bytes pass unchanged. It has the
// window size of `like`, one of our own descriptors, where that is a terminal, less
// `reserved_columns` for a prefix, and is nobody's controlling terminal.
Result<Channel> make_channel(ChannelKind kind, int like, int reserved_columns = 0);

// Columns of the terminal behind `fd`, or 80.
int terminal_width(int fd);

}  // namespace ddprun::output
