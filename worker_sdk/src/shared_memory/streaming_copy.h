// A copy for the eyes of another CPU.
#pragma once

#include <cstddef>

namespace ddp::detail {

// As memcpy, past the caches: the memory then has it, where a CPU that shares no cache with this
// one reads it, and the caches of that one need not be told line by line that they are out of date.
// Whatever this thread stores afterwards is seen after it.
void streaming_copy(void* to, const void* from, std::size_t bytes);

}  // namespace ddp::detail
