// Whether a socket call has failed only for now.
#pragma once

#include <cerrno>

namespace ddprun::server {

// `error` is errno of a recv() or send() that does not wait.
inline bool would_block(int error) {
  return error == EAGAIN || error == EWOULDBLOCK || error == EINTR;
}

}  // namespace ddprun::server
