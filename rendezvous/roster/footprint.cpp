#include "rendezvous/roster/footprint.h"

#include <numeric>
#include <string>

namespace ddprun::roster {
namespace {

constexpr std::size_t kHeap = 16;  // what an allocation takes beside its bytes

// Beside the string itself.
std::size_t beside(const std::string& text) {
  static const std::size_t inside = std::string().capacity();
  return text.capacity() <= inside ? 0 : text.capacity() + kHeap;
}

std::size_t beside(const std::optional<std::string>& text) {
  return text ? beside(*text) : 0;
}

template <class T, class Beside>
std::size_t beside(const std::vector<T>& values, Beside of_each) {
  if (values.capacity() == 0) return 0;
  return std::accumulate(values.begin(), values.end(), values.capacity() * sizeof(T) + kHeap,
                         [&](std::size_t sum, const T& each) { return sum + of_each(each); });
}

std::size_t beside(const std::vector<std::string>& texts) {
  return beside(texts, [](const std::string& each) { return beside(each); });
}

std::size_t beside(const protocol::Assignment& assignment) {
  return beside(assignment.nodes, [](const auto& each) { return beside(each.node); }) +
         beside(assignment.store_host) + beside(assignment.why);
}

}  // namespace

std::size_t footprint(const Join& join) {
  std::size_t sum = sizeof join + beside(join.run) + beside(join.node) + beside(join.version) +
                    beside(join.program) + beside(join.arguments) + beside(join.addresses) +
                    beside(join.local_addr);
  if (join.held) sum += beside(join.held->server) + beside(join.held->assignment);
  if (join.former) sum += beside(join.former->server) + beside(join.former->run_directory);
  return sum;
}

std::size_t footprint(const protocol::Assignment& assignment) {
  return sizeof assignment + beside(assignment);
}

std::size_t footprint(const Cause& cause) {
  return sizeof cause + beside(cause.text) + beside(cause.node) + beside(cause.lines) +
         beside(cause.how) + (cause.absent.size() + cause.silent_too.size()) * sizeof(int);
}

std::size_t footprint(const std::vector<std::string>& texts) {
  return beside(texts);
}

std::size_t footprint(const std::vector<protocol::Started::Worker>& workers) {
  return beside(workers, [](const auto& each) { return beside(each.device); });
}

}  // namespace ddprun::roster
