// Any CUDA_VISIBLE_DEVICES on a node of whole and divided GPUs: what is visible is there, once, and
// named by its entry; the list made of these entries means the same; whatever of the list does not
// count is told. The first byte of the input chooses the node.
#include <cstdint>
#include <set>

#include "launcher/devices/visible.h"
#include "tests/fuzz/checks.h"

namespace {

using namespace ddprun;
using fuzz::require;

devices::NodeGpus node_of(std::uint8_t choice) {
  devices::NodeGpus node{.source = devices::Source::nvml};
  for (int i = 0; i < choice % 10; ++i) {
    const std::string id = std::to_string(i / 2) + std::to_string(i);
    node.gpus.push_back({.index = i,
                         .uuid = "GPU-" + id,
                         .name = (choice & 0x10) != 0 && i == 1 ? "other" : "same",
                         .divided = (choice & 0x20) != 0 && i == 0});
    node.mig_devices.push_back({.index = 0, .uuid = "MIG-" + id, .name = "part"});
  }
  return node;
}

bool is_of(const devices::NodeGpus& node, const devices::Gpu& gpu) {
  const auto same = [&](const devices::Gpu& other) { return other.uuid == gpu.uuid; };
  return std::ranges::any_of(node.gpus, same) || std::ranges::any_of(node.mig_devices, same);
}

std::string joined(const std::vector<std::string>& entries) {
  std::string list;
  for (const std::string& entry : entries) list += (list.empty() ? "" : ",") + entry;
  return list;
}

std::vector<std::string> uuids(const devices::VisibleGpus& visible) {
  std::vector<std::string> all;
  for (const devices::Gpu& gpu : visible.gpus) all.push_back(gpu.uuid);
  return all;
}

void check(const std::string& list, const devices::NodeGpus& node, devices::ListFor list_for) {
  const auto order = devices::DeviceOrder::fastest_first;
  const devices::VisibleGpus found = devices::visible(list, node, order, list_for);
  require(found.list_given && found.list_text == list);
  require(found.gpus.size() == found.entries.size());
  require(!found.hides_all || found.gpus.empty());
  for (const devices::Gpu& gpu : found.gpus) require(is_of(node, gpu));
  const std::vector<std::string> all = uuids(found);
  require(std::set(all.begin(), all.end()).size() == all.size());
  for (const std::string& warning : found.warnings) require(!warning.empty());
  // As many as there are entries, or somebody has said why not; a comma at the end is no entry.
  const std::size_t written = fuzz::split(list, ',').size();
  const bool short_list = found.gpus.size() < written;
  const bool nothing_hidden = list.find_first_of(", \t\n\v\f\r") != std::string::npos;
  require(!short_list || node.gpus.empty() || found.hides_all || nothing_hidden ||
          !found.warnings.empty());
  if (found.entries.empty()) return;
  const auto again = devices::visible(joined(found.entries), node, order, list_for);
  require(uuids(again) == all);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const devices::NodeGpus node = node_of(data[0]);
  const std::string list(fuzz::view_of(data + 1, size - 1));
  check(list, node, devices::ListFor::each_process);
  check(list, node, devices::ListFor::one_entry_each);
  return 0;
}
