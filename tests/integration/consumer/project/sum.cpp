// The sum over all ranks of what each has.
#include <ATen/ops/full.h>
#include <ddp/collectives.h>
#include <ddp/process_group.h>

#include <cstdio>

int main() {
  ddp::init_process_group();
  at::Tensor tensor = at::full({2}, ddp::rank() + 1);
  ddp::all_reduce(tensor);
  std::printf("rank %d of %d: sum %d\n", ddp::rank(), ddp::world_size(), tensor[0].item<int>());
  ddp::destroy_process_group();
}
