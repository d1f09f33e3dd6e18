// Reading and writing files of checkpoints, with errors that name them.
#pragma once

#include <functional>
#include <string>

#include "worker_sdk/src/checkpoint/atomic_file.h"

namespace ddp::detail {

// Opens the file and calls `read`. Throws ddp::Error "WHAT: PATH cannot be read: reason".
void read_file(const std::string& what, const std::string& path,
               const std::function<void(ByteSource&)>& read);

// Calls `write` with a new file beside `path`, then puts it in its place. Throws ddp::Error "WHAT:
// PATH cannot be written: reason"; then the old file is still there.
void write_file(const std::string& what, const std::string& path,
                const std::function<void(ByteSink&)>& write);

// The global rank, before init_process_group that of the environment; -1 if neither knows.
int rank_for_messages();

}  // namespace ddp::detail
