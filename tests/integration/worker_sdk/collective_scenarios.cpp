#include <signal.h>
#include <sys/resource.h>
#include <torch/torch.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <stdexcept>
#include <string>

#include "ddp/ddp.h"
#include "tests/integration/worker_sdk/scenarios.h"

namespace ddp::test {
namespace {

using std::chrono::seconds;

// "name: 1 2 3", on stdout.
void print(const std::string& name, const at::Tensor& tensor) {
  std::cout << name << ":";
  const at::Tensor flat = tensor.to(at::kDouble).flatten();
  for (int64_t i = 0; i < flat.numel(); ++i) std::cout << ' ' << flat[i].item<double>();
  std::cout << std::endl;
}

at::Tensor mine() {
  return torch::tensor({1.0 + rank(), 10.0 * (1 + rank())});
}

void all_reduce_all_ops() {
  init_process_group();
  const std::pair<const char*, ReduceOp> ops[] = {{"SUM", ReduceOp::SUM},
                                                  {"AVG", ReduceOp::AVG},
                                                  {"PRODUCT", ReduceOp::PRODUCT},
                                                  {"MIN", ReduceOp::MIN},
                                                  {"MAX", ReduceOp::MAX}};
  for (const auto& [name, op] : ops) {
    const at::Tensor tensor = mine();
    all_reduce(tensor, op);
    print(name, tensor);
  }
  const std::pair<const char*, ReduceOp> bit_ops[] = {
      {"BAND", ReduceOp::BAND}, {"BOR", ReduceOp::BOR}, {"BXOR", ReduceOp::BXOR}};
  for (const auto& [name, op] : bit_ops) {
    const at::Tensor tensor = torch::tensor({rank() == 0 ? 6 : 3});
    all_reduce(tensor, op);
    print(name, tensor);
  }
  destroy_process_group();
  std::cout << "initialized: " << is_initialized() << std::endl;
}

void broadcast_and_gather() {
  init_process_group();
  const at::Tensor tensor = mine();
  broadcast(tensor, world_size() - 1);
  print("broadcast", tensor);
  for (const at::Tensor& each : all_gather(mine())) print("gathered", each);
  barrier();
  destroy_process_group();
}

void groups() {
  init_process_group();
  const ProcessGroup outer = new_group({2, 0});
  const ProcessGroup inner = new_group({1});
  const ProcessGroup all = new_group();
  std::cout << "rank in outer: " << get_rank(outer) << " of " << get_world_size(outer) << std::endl;
  std::cout << "member of inner: " << inner.is_member() << std::endl;
  const at::Tensor tensor = mine();
  all_reduce(tensor, ReduceOp::SUM, outer);
  print("outer sum", tensor);
  if (outer.is_member()) {
    const at::Tensor from_two = mine();
    broadcast(from_two, 2, outer);
    print("from rank 2", from_two);
  }
  all_reduce(tensor, ReduceOp::MAX, all);
  print("all max", tensor);
  barrier();
  destroy_process_group();
}

void again_after_destroy() {
  init_process_group();
  destroy_process_group();
  std::cout << "initialized: " << is_initialized() << std::endl;
  rank();
}

void twice() {
  init_process_group();
  init_process_group();
}

void lost_peer() {
  init_process_group();
  const at::Tensor tensor = mine();
  all_reduce(tensor);
  if (rank() == 1) raise(SIGKILL);
  all_reduce(tensor);
}

// Rank 1 stays alive and connected but does not take part.
void deaf_peer() {
  init_process_group({.timeout = seconds(4)});
  if (rank() == 1) pause();
  all_reduce(mine());
}

void impatient() {
  init_process_group({.timeout = seconds(2)});
}

void three_seconds() {
  init_process_group({.timeout = seconds(3)});
}

void patient() {
  init_process_group({.timeout = seconds(30)});
  std::cout << "joined as " << rank() << " of " << world_size() << std::endl;
}

void wrong_type() {
  init_process_group();
  all_reduce(torch::ones({1}, at::kFloat8_e4m3fn));
}

void want_nccl() {
  init_process_group({.backend = "nccl"});
}
void gloo_on_a_device() {
  init_process_group({.backend = "gloo", .device_id = c10::Device("cuda:0")});
}
void nccl_on_the_cpu() {
  init_process_group({.backend = "nccl", .device_id = c10::Device("cpu")});
}
// The first MASTER_PORT is wrong, the one in RIGHT_PORT is not.
void second_try() {
  try {
    init_process_group({.timeout = seconds(1)});
  } catch (const Error&) {
    std::cout << "initialized: " << is_initialized() << std::endl;
  }
  setenv("MASTER_PORT", std::getenv("RIGHT_PORT"), 1);
  patient();
}

// Joins by INIT_METHOD with BACKEND, and does a little.
void meet() {
  const char *method = std::getenv("INIT_METHOD"), *backend = std::getenv("BACKEND");
  init_process_group({.backend = backend ? backend : "gloo",
                      .init_method = method ? method : "env://",
                      .timeout = seconds(30)});
  const at::Tensor tensor = mine();
  all_reduce(tensor);
  print(get_backend(), tensor);
  const at::Tensor in_group = mine();
  all_reduce(in_group, ReduceOp::SUM, new_group());
  print("group", in_group);
  destroy_process_group();
}

void both_backends_on_a_device() {
  init_process_group({.backend = "cpu:gloo,cuda:nccl", .device_id = c10::Device("cuda:0")});
}

void no_group() {
  all_reduce(torch::ones({1}));
}

void unknown_rank_in_group() {
  init_process_group();
  new_group({0, 7});
}

void group_without_time() {
  init_process_group();
  new_group({}, std::chrono::milliseconds(0));
}

// How many threads of this process are nicer than its first one.
void nicer_threads() {
  init_process_group({.gloo_event_niceness = std::getenv("DDP_TEST_NOT_NICE") ? 0 : 10});
  new_group({});
  int nicer = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    const int id = std::stoi(task.path().filename());
    nicer += getpriority(PRIO_PROCESS, static_cast<id_t>(id)) > getpriority(PRIO_PROCESS, 0);
  }
  std::cout << nicer << std::endl;
  barrier();  // a rank that has ended could not be connected to
}

// Page faults of 20 steps that each take and give back 16 MiB in four tensors, in thousands. Before
// them come some in which the heap finds its size.
void page_faults() {
  init_process_group({.keep_freed_memory = std::getenv("DDP_TEST_GIVE_BACK") == nullptr});
  const auto step = [] {
    std::vector<at::Tensor> activations;
    for (int i = 0; i < 4; ++i) activations.push_back(at::ones({1 << 20}));
  };
  for (int i = 0; i < 60; ++i) step();
  rusage before{}, after{};
  getrusage(RUSAGE_SELF, &before);
  for (int i = 0; i < 20; ++i) step();
  getrusage(RUSAGE_SELF, &after);
  std::cout << (after.ru_minflt - before.ru_minflt) / 1000 << std::endl;
}

// Written before init_process_group made stdout line-buffered, and then a line with no flush.
void line_buffered() {
  init_process_group();
  std::printf("before the signal\n");
  raise(SIGKILL);
}

void device() {
  std::cout << local_device().str() << "; " << describe_device() << "; " << gpu_id() << std::endl;
}

// A write to a connection that its other end has closed is an error and not the end of the process.
void broken_pipe() {
  init_process_group();
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("pipe");
  close(ends[0]);
  const bool refused = write(ends[1], "x", 1) < 0;
  close(ends[1]);
  std::cout << "refused: " << refused << std::endl;
}

}  // namespace

Scenarios collective_scenarios() {
  return {{"broken_pipe", broken_pipe},
          {"all_reduce_all_ops", all_reduce_all_ops},
          {"broadcast_and_gather", broadcast_and_gather},
          {"groups", groups},
          {"again_after_destroy", again_after_destroy},
          {"twice", twice},
          {"lost_peer", lost_peer},
          {"deaf_peer", deaf_peer},
          {"impatient", impatient},
          {"three_seconds", three_seconds},
          {"patient", patient},
          {"wrong_type", wrong_type},
          {"want_nccl", want_nccl},
          {"gloo_on_a_device", gloo_on_a_device},
          {"nccl_on_the_cpu", nccl_on_the_cpu},
          {"second_try", second_try},
          {"meet", meet},
          {"both_backends_on_a_device", both_backends_on_a_device},
          {"no_group", no_group},
          {"unknown_rank_in_group", unknown_rank_in_group},
          {"group_without_time", group_without_time},
          {"line_buffered", line_buffered},
          {"page_faults", page_faults},
          {"nicer_threads", nicer_threads},
          {"device", device}};
}

}  // namespace ddp::test
