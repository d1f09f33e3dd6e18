#include <ATen/Functions.h>

#include <algorithm>
#include <cstring>

#include "ddp/collectives.h"
#include "ddp/device.h"
#include "worker_sdk/src/group_state.h"

namespace ddp {
namespace {

// Where the group's backend can take a text.
c10::Device device_of(const ProcessGroup& group, const char* what) {
  return detail::resolve(group, what)->gloo ? c10::Device(c10::kCPU) : local_device();
}

at::Tensor length_tensor(const std::string& text, c10::Device device) {
  return at::full({1}, static_cast<std::int64_t>(text.size()), at::kLong).to(device);
}

// The text, behind it zeros up to `length` bytes; what does not fit is cut.
at::Tensor bytes_tensor(const std::string& text, std::int64_t length, c10::Device device) {
  const at::Tensor bytes = at::zeros({length}, at::kByte);
  std::memcpy(bytes.data_ptr(), text.data(),
              std::min(text.size(), static_cast<std::size_t>(length)));
  return bytes.to(device);
}

std::string text_of(const at::Tensor& bytes, std::int64_t length) {
  const at::Tensor local = bytes.cpu();
  return {static_cast<const char*>(local.data_ptr()), static_cast<std::size_t>(length)};
}

}  // namespace

std::string broadcast_string(const std::string& text, int src, const ProcessGroup& group) {
  const c10::Device device = device_of(group, "broadcast_string");
  const at::Tensor length_on_device = length_tensor(text, device);
  broadcast(length_on_device, src, group);
  const auto length = length_on_device.item<std::int64_t>();
  if (!group.is_member() || length == 0) return {};
  const at::Tensor bytes = bytes_tensor(text, length, device);
  broadcast(bytes, src, group);
  return text_of(bytes, length);
}

std::vector<std::string> all_gather_string(const std::string& text, const ProcessGroup& group) {
  const c10::Device device = device_of(group, "all_gather_string");
  std::vector<std::int64_t> lengths;
  for (const at::Tensor& each : all_gather(length_tensor(text, device), group)) {
    lengths.push_back(each.item<std::int64_t>());
  }
  if (lengths.empty()) return {};
  const std::int64_t longest = *std::max_element(lengths.begin(), lengths.end());
  if (longest == 0) return std::vector<std::string>(lengths.size());
  const auto gathered = all_gather(bytes_tensor(text, longest, device), group);
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < gathered.size(); ++i) {
    texts.push_back(text_of(gathered[i], lengths[i]));
  }
  return texts;
}

}  // namespace ddp
