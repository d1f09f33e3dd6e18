// Lets an exception that leaves main end the program in good order, and tells the launcher about
// it.
//
//   int train(int argc, char** argv);
//   int main(int argc, char** argv) { return ddp::record(train, argc, argv); }
//
// PyTorch: the decorator torch.distributed.elastic.multiprocessing.errors.record.
#pragma once

#include <functional>

#include "ddp/export.h"

namespace ddp {

// Calls `body` and returns what it returns. If an exception leaves it: writes the error file that
// the launcher reports (TORCHELASTIC_ERROR_FILE, in PyTorch's form; not if the variable is not
// set), prints "type: text" to stderr with the rank where it is known, and returns 1. The process
// groups are not left, which would wait for what they have begun: other ranks notice when the
// process ends, so return from main then. What is not derived from std::exception is recorded, too.
DDP_API int record(const std::function<int()>& body);
DDP_API int record(int (*body)(int, char**), int argc, char** argv);

}  // namespace ddp
