#include "worker_sdk/src/gather_tensors.h"

#include <ATen/Functions.h>

namespace ddp::detail {

std::vector<at::Tensor> gather_tensors(const GroupState& group, const at::Tensor& mine) {
  std::vector<at::Tensor> inputs{mine};
  std::vector<std::vector<at::Tensor>> outputs(1);
  for (int i = 0; i < group.size(); ++i) outputs[0].push_back(at::empty_like(mine));
  group.group->allgather(outputs, inputs)->wait();
  return std::move(outputs[0]);
}

}  // namespace ddp::detail
