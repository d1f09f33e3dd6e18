// Random choices that are the same for the same seed, on every machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>

namespace ddprun::test {

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed) {}
  // From 0 to count - 1. Not std::uniform_int_distribution, which differs between libraries.
  int below(int count) { return static_cast<int>(engine_() % static_cast<std::uint64_t>(count)); }
  bool one_in(int count) { return below(count) == 0; }
  template <class T, std::size_t N>
  const T& of(const T (&choices)[N]) {
    return choices[below(static_cast<int>(N))];
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace ddprun::test
