// SIGPIPE, which would end a rank because another process is gone.
#pragma once

namespace ddp::detail {

// From now on the write fails instead, as in Python; unless the program has a handler of its own.
void ignore_broken_pipes();

}  // namespace ddp::detail
