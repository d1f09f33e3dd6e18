#include "launcher/hosts/tree.h"

#include <algorithm>

namespace ddprun::hosts {

std::vector<Branch> branches(std::size_t begin, std::size_t end, std::size_t width) {
  const std::size_t hosts = end - begin;
  const std::size_t count = std::min(hosts, width);
  std::vector<Branch> all;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t size = hosts / count + (i < hosts % count ? 1 : 0);
    all.push_back({begin, begin + size});
    begin += size;
  }
  return all;
}

}  // namespace ddprun::hosts
