#include "launcher/placement/cpu_list.h"

#include <sched.h>

#include <memory>

namespace ddprun::placement {

std::string range_text(const CpuList& list) {
  std::string text;
  for (std::size_t i = 0; i < list.size();) {
    std::size_t end = i + 1;
    while (end < list.size() && list[end] == list[end - 1] + 1) ++end;
    text += (text.empty() ? "" : ",") + std::to_string(list[i]);
    if (end - i > 1) text += "-" + std::to_string(list[end - 1]);
    i = end;
  }
  return text;
}

CpuList inherited_cpus() {
  // The kernel's mask may be larger than cpu_set_t, so ours grows until the kernel is content.
  for (int most = CPU_SETSIZE; most <= (1 << 20); most *= 2) {
    const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> mask(
        CPU_ALLOC(most), [](cpu_set_t* set) { CPU_FREE(set); });
    const std::size_t size = CPU_ALLOC_SIZE(most);
    if (sched_getaffinity(0, size, mask.get()) != 0) continue;
    CpuList cpus;
    for (int cpu = 0; cpu < most; ++cpu)
      if (CPU_ISSET_S(cpu, size, mask.get())) cpus.push_back(cpu);
    return cpus;
  }
  return {0};
}

std::vector<unsigned long> bit_mask(const CpuList& list) {
  constexpr int kBits = 8 * sizeof(unsigned long);
  std::vector<unsigned long> words;
  for (const int number : list) {
    words.resize(static_cast<std::size_t>(number / kBits) + 1);
    words.back() |= 1UL << (number % kBits);
  }
  return words;
}

}  // namespace ddprun::placement
