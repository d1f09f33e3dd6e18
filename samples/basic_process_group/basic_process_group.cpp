// The smallest program of several processes: the ranks meet, form a group and add up a tensor.
//
//     ddprun -n 4 build/bin/samples/basic_process_group
//
// ddprun starts this program four times. Each copy runs main() from the first line to the last;
// what tells them apart is their rank, and what connects them are collectives: calls that every
// rank makes in the same order.
#include <ddp/ddp.h>
#include <torch/torch.h>

#include <cstdio>
#include <numeric>
#include <sstream>
#include <vector>

namespace {

std::string text(const torch::Tensor& tensor) {
  std::ostringstream out;
  for (const auto& number : tensor.to(torch::kCPU).unbind()) out << ' ' << number.item<float>();
  return "[" + out.str() + " ]";
}

int run() {
  // Meets the other ranks; returns when all have come. Where they meet is in the environment
  // (MASTER_ADDR, …).
  ddp::init_process_group();
  const int rank = ddp::get_rank();
  const int world_size = ddp::get_world_size();
  std::printf("rank %d of %d is here, on %s\n", rank, world_size, ddp::describe_device().c_str());

  // A group may hold any of the ranks; this one holds all of them. Every rank of the job makes the
  // call, members of the new group or not.
  std::vector<int> ranks(world_size);
  std::iota(ranks.begin(), ranks.end(), 0);
  const auto group = ddp::new_group(ranks);

  // Every rank brings [1, 2, 3, 4] and gets the sum of all of them, in place.
  auto numbers = torch::tensor({1.f, 2.f, 3.f, 4.f}, ddp::local_device());
  const auto expected = numbers * world_size;
  ddp::all_reduce(numbers, ddp::ReduceOp::SUM, group);

  const bool right = torch::equal(numbers, expected);
  std::printf("rank %d: the sum over %d ranks is %s: %s\n", rank, world_size, text(numbers).c_str(),
              right ? "right" : ("wrong, expected " + text(expected)).c_str());
  ddp::destroy_process_group();
  return right ? 0 : 1;
}

}  // namespace

int main() {
  try {
    return run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "basic_process_group: %s\n", error.what());
    return 1;
  }
}
