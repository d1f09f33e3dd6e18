#include "worker_sdk/src/shared_memory/streaming_copy.h"

#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace ddp::detail {

#if defined(__SSE2__)

void streaming_copy(void* to, const void* from, std::size_t bytes) {
  constexpr std::size_t kLine = 64;
  auto* out = static_cast<std::byte*>(to);
  const auto* in = static_cast<const std::byte*>(from);
  const std::size_t before = -reinterpret_cast<std::uintptr_t>(out) % kLine;
  if (before >= bytes) {
    std::memcpy(out, in, bytes);
    return;
  }
  std::memcpy(out, in, before);
  std::size_t at = before;
  for (; at + kLine <= bytes; at += kLine) {
    const auto* source = reinterpret_cast<const __m128i*>(in + at);
    auto* line = reinterpret_cast<__m128i*>(out + at);
    // All four before the first store, which might write to where they are for all the compiler
    // knows.
    const __m128i a = _mm_loadu_si128(source), b = _mm_loadu_si128(source + 1);
    const __m128i c = _mm_loadu_si128(source + 2), d = _mm_loadu_si128(source + 3);
    _mm_stream_si128(line, a);
    _mm_stream_si128(line + 1, b);
    _mm_stream_si128(line + 2, c);
    _mm_stream_si128(line + 3, d);
  }
  std::memcpy(out + at, in + at, bytes - at);
  _mm_sfence();
}

#else

void streaming_copy(void* to, const void* from, std::size_t bytes) {
  std::memcpy(to, from, bytes);
}

#endif

}  // namespace ddp::detail
