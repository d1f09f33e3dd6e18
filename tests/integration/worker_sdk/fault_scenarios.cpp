// Training in which rank 1 fails in some way, and arguments that nobody can work with.
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <torch/torch.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <optional>
#include <set>
#include <stdexcept>
#include <thread>

#include "ddp/ddp.h"
#include "tests/integration/worker_sdk/scenarios.h"

namespace ddp::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr int kBadStep = 3;

bool is_bad(int step) {
  const char* bad = std::getenv("DDP_TEST_BAD_RANK");
  return rank() == (bad ? std::atoi(bad) : 1) && step == kBadStep;
}

// Called in the middle of a pass, where there is one.
std::function<void()> in_forward, in_backward;

struct CallsBackward : torch::autograd::Function<CallsBackward> {
  static at::Tensor forward(AutogradContext*, const at::Tensor& x) { return x.clone(); }
  static variable_list backward(AutogradContext*, const variable_list& gradients) {
    if (in_backward) in_backward();
    return gradients;
  }
};

// Two buckets: the backward pass begins with `last`, whose gradients are sent before in_backward.
struct FaultyImpl : torch::nn::Module {
  FaultyImpl() {
    register_module("layer", layer);
    register_module("last", last);
    if (std::getenv("DDP_TEST_BUFFERS")) register_buffer("count", torch::zeros({1}));
  }
  at::Tensor forward(const at::Tensor& x) {
    const at::Tensor y = layer(x);
    if (in_forward) in_forward();
    return last(CallsBackward::apply(y));
  }
  torch::nn::Linear layer{2, 600}, last{600, 600};
};
TORCH_MODULE(Faulty);

using Model = DistributedDataParallel<Faulty>;

void step_of(Model& model) {
  model(torch::ones({4, 2})).mean().backward();
}

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Trains for ever, and calls `fault` before each step; what leaves it is recorded as in a user's
// main, with the time since the step began and the time at which it left. The time-out is that of
// the training only: it may take long until all ranks have come.
[[noreturn]] void train(const std::function<void(Model&, int step)>& fault,
                        std::optional<seconds> timeout = std::nullopt) {
  std::exit(record([&] {
    init_process_group({.shared_memory = wants_shared_memory()});
    DistributedDataParallelOptions options;
    options.bucket_cap_mb = 1;
    if (timeout) options.process_group = new_group({}, *timeout);
    Model model(Faulty{}, options);
    double begin = 0;
    try {
      for (int step = 0;; ++step) {
        begin = now();
        fault(model, step);
        progress(step);
        step_of(model);
      }
    } catch (...) {
      std::printf("failed after %f at %f\n", now() - begin, now());
      throw;
    }
    return 0;
  }));
}

// As a script does that thinks it is done.
void leave_in_training() {
  train([](Model&, int step) {
    if (is_bad(step)) std::_Exit(0);
  });
}

// Where nobody can catch it.
void throw_in_thread() {
  init_process_group();
  std::thread([] { throw std::runtime_error("my thread is broken"); }).join();
}

// Twice in one process, with a store that outlives the group.
void join_again() {
  for (int time = 1; time <= 3; ++time) {
    init_process_group({.timeout = seconds(30)});
    const at::Tensor tensor = torch::full({1}, rank() + 1.0);
    all_reduce(tensor);
    std::cout << time << ": " << tensor.item<double>() << std::endl;
    destroy_process_group();
  }
}

void killed_in_training() {
  train([](Model&, int step) {
    if (is_bad(step)) raise(SIGKILL);
  });
}

void hung_in_training() {
  train(
      [](Model&, int step) {
        if (step == kBadStep) barrier();  // the others' three seconds begin together
        if (is_bad(step)) pause();
      },
      seconds(3));
}

bool other_threads_sleep() {
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    if (task.path().filename() == std::to_string(gettid())) continue;
    std::ifstream file(task.path() / "stat");
    std::string text;
    std::getline(file, text);
    if (const auto end = text.rfind(") "); end != text.npos && text[end + 2] != 'S') return false;
  }
  return true;
}

// When its sum has come so far that it waits for the other ranks.
void die_while_waiting() {
  for (int asleep = 0; asleep < 10; asleep = other_threads_sleep() ? asleep + 1 : 0) {
    std::this_thread::sleep_for(milliseconds(2));
  }
  raise(SIGKILL);
}

void wait_for_end_of(std::int64_t pid) {
  const int fd = static_cast<int>(syscall(SYS_pidfd_open, static_cast<pid_t>(pid), 0));
  pollfd end{fd, POLLIN, 0};
  if (fd >= 0) poll(&end, 1, -1);
}

// Rank 2 has yet to send to rank 1 what that is ready for when it is killed.
void killed_before_rank_2_sends() {
  train([](Model&, int step) {
    if (step != kBadStep) return;
    const auto pids = all_gather(torch::tensor({std::int64_t{getpid()}}));
    if (rank() == 1) in_backward = die_while_waiting;
    if (rank() == 2) wait_for_end_of(pids[1].item<std::int64_t>());
  });
}

// Without the time-out of the group, so that only the launcher's limit can end it.
void silent_in_training() {
  train([](Model&, int step) {
    if (is_bad(step)) pause();
  });
}

// Rank 1 has done its part, and rank 2 never comes.
void gather_in_vain() {
  init_process_group({.timeout = seconds(3)});
  if (rank() < 2) gather(torch::ones({2}), 0);
  pause();
}

// As a program does that goes on after an error.
void call_after_a_time_out() {
  init_process_group({.timeout = seconds(1)});
  if (rank() == 1) pause();
  try {
    all_reduce(torch::ones({2}));
  } catch (const Error&) {
    all_reduce(torch::ones({2}));
  }
}

// Rank 1 never makes the group.
void barrier_in_vain() {
  init_process_group();
  if (rank() == 1) pause();
  new_group({0, 2}, seconds(2));
}

// Steps for longer than the limit of the test, 10 s.
void progress_goes_on() {
  const auto end = std::chrono::steady_clock::now() + seconds(13);
  for (int step = 0; std::chrono::steady_clock::now() < end; ++step) {
    progress(step);
    std::this_thread::sleep_for(milliseconds(100));
  }
}

// Its number is its sample.
struct Numbers : torch::data::Dataset<Numbers> {
  explicit Numbers(std::size_t count, bool broken = false) : count_(count), broken_(broken) {}
  torch::data::Example<> get(std::size_t index) override {
    if (broken_) throw std::runtime_error("my file is broken");
    const at::Tensor number = torch::full({1}, static_cast<double>(index));
    return {number, number};
  }
  torch::optional<std::size_t> size() const override { return count_; }

  std::size_t count_;
  bool broken_;
};

auto loader_of(Numbers numbers, const DistributedSampler& sampler, int workers) {
  return torch::data::make_data_loader(
      numbers.map(torch::data::transforms::Stack<>()), sampler,
      torch::data::DataLoaderOptions().batch_size(4).workers(static_cast<std::size_t>(workers)));
}

void throw_in_loader() {
  train([](Model&, int step) {
    const auto loader = loader_of(Numbers(16, is_bad(step)), DistributedSampler(16), 2);
    for (const auto& batch : *loader) (void)batch;
  });
}

enum class Place { kForward, kBackward, kSampler };
enum class Kind { kThrow, kKill, kHang };

template <Place place, Kind kind>
void fail() {
  if (kind == Kind::kKill) raise(SIGKILL);
  if (kind == Kind::kHang) pause();
  const char* names[] = {"forward", "backward", "sampler"};
  throw std::runtime_error(std::string("my ") + names[static_cast<int>(place)] + " is broken");
}

template <Kind kind>
struct BrokenSampler : DistributedSampler {
  using DistributedSampler::DistributedSampler;
  std::optional<std::vector<std::size_t>> next(std::size_t) override {
    fail<Place::kSampler, kind>();
    return {};
  }
};

template <Kind kind>
void read_with_a_broken_sampler() {
  auto loader = torch::data::make_data_loader(
      Numbers(16).map(torch::data::transforms::Stack<>()), BrokenSampler<kind>(16),
      torch::data::DataLoaderOptions().batch_size(4).workers(2));
  for (const auto& batch : *loader) (void)batch;
}

// Rank 1 fails there; for a rank that hangs, the others have three seconds, which begin together.
template <Place place, Kind kind>
void fail_in() {
  const bool hangs = kind == Kind::kHang;
  train(
      [hangs](Model&, int step) {
        if (hangs && step == kBadStep) barrier();
        if (!is_bad(step)) return;
        if (place == Place::kForward) in_forward = fail<place, kind>;
        if (place == Place::kBackward) in_backward = fail<place, kind>;
        if (place == Place::kSampler) read_with_a_broken_sampler<kind>();
      },
      hangs ? std::optional(seconds(3)) : std::nullopt);
}

// While an operation has begun that the others never join.
void throw_with_a_sum_under_way() {
  std::exit(record([] {
    init_process_group();
    if (rank() == 0) pause();
    all_reduce(torch::ones({2}), ReduceOp::SUM, {}, true);
    throw std::runtime_error("my step is broken");
    return 0;
  }));
}

// Three epochs through worker threads: which samples came on all ranks together.
void loader_epochs() {
  init_process_group();
  std::set<std::vector<double>> orders;
  for (const bool drop_last : {false, true}) {
    DistributedSampler sampler(23, {.drop_last = drop_last});
    const auto loader = loader_of(Numbers(23), sampler, 3);
    for (int epoch = 0; epoch < 3; ++epoch) {
      sampler.set_epoch(epoch);
      std::vector<at::Tensor> mine;
      for (const auto& batch : *loader) mine.push_back(batch.data.flatten());
      const at::Tensor all = torch::cat(all_gather(torch::cat(mine)));
      const auto* first = all.data_ptr<float>();
      const std::set<double> distinct(first, first + all.numel());
      orders.insert(std::vector<double>(first, first + all.numel()));
      std::cout << distinct.size() << " of " << all.numel() << std::endl;
    }
  }
  std::cout << "orders: " << orders.size() << std::endl;
  destroy_process_group();
}

void print_refusals(const std::vector<std::function<void()>>& calls) {
  for (const auto& call : calls) {
    try {
      call();
      std::cout << "not refused" << std::endl;
    } catch (const Error& error) {
      std::cout << error.what() << std::endl;
    }
  }
}

void bad_samplers() {
  print_refusals({[] { DistributedSampler sampler(8); }});
  init_process_group();
  print_refusals({[] { DistributedSampler sampler(0); },
                  [] { DistributedSampler(8, {.num_replicas = 0}); },
                  [] { DistributedSampler(8, {.num_replicas = 2, .rank = 2}); },
                  [] { DistributedSampler(8, {.num_replicas = 2, .rank = -1}); },
                  [] { DistributedSampler(8).next(0); }, [] { DistributedSampler(8).reset(0); }});
  destroy_process_group();
}

struct TwoDevicesImpl : torch::nn::Module {
  TwoDevicesImpl() {
    register_parameter("here", torch::ones({2}));
    register_parameter("elsewhere", torch::ones({2}, torch::device(at::kMeta)));
  }
  at::Tensor forward(const at::Tensor& x) { return x; }
};
TORCH_MODULE(TwoDevices);

struct ElsewhereImpl : torch::nn::Module {
  ElsewhereImpl() { register_parameter("weight", torch::ones({2}, torch::device(at::kMeta))); }
  at::Tensor forward(const at::Tensor& x) { return x; }
};
TORCH_MODULE(Elsewhere);

void bad_modules() {
  init_process_group();
  print_refusals(
      {[] { DistributedDataParallel<TwoDevices> model(TwoDevices{}); },
       [] { DistributedDataParallel<Elsewhere> model(Elsewhere{}); },
       [] { DistributedDataParallel<torch::nn::Linear> model(torch::nn::Linear{nullptr}); }});
  destroy_process_group();
}

// With TORCH_DISTRIBUTED_DEBUG=DETAIL: MISMATCH says in what rank 1 differs.
void mismatch() {
  init_process_group({.timeout = seconds(20)});
  const std::string kind = std::getenv("MISMATCH");
  const bool other = rank() == 1;
  all_reduce(torch::ones({2}));
  if (kind == "none") std::cout << "no mismatch" << std::endl;
  if (kind == "shape") all_reduce(torch::ones({other ? 3 : 2}));
  if (kind == "type") all_reduce(torch::ones({2}, other ? at::kDouble : at::kFloat));
  if (kind == "operation" && other) broadcast(torch::ones({2}), 0);
  if (kind == "operation" && !other) all_reduce(torch::ones({2}));
  if (kind == "backward") {
    Model model(Faulty{});
    std::cout << model.logging_data()["backend_name"] << std::endl;
    const at::Tensor loss = model(torch::ones({4, 2})).mean();
    if (other) all_reduce(torch::ones({5}));
    loss.backward();
  }
  if (kind == "group") {
    const ProcessGroup outer = new_group({1, 2});
    if (rank() == 0) throw Error(0, "no member");
    all_reduce(torch::ones({other ? 3 : 2}), ReduceOp::SUM, outer);
  }
  destroy_process_group();
}

}  // namespace

Scenarios fault_scenarios() {
  using enum Place;
  using enum Kind;
  return {{"throw_in_forward", fail_in<kForward, kThrow>},
          {"throw_in_backward", fail_in<kBackward, kThrow>},
          {"throw_in_sampler", fail_in<kSampler, kThrow>},
          {"killed_in_forward", fail_in<kForward, kKill>},
          {"killed_in_backward", fail_in<kBackward, kKill>},
          {"killed_in_sampler", fail_in<kSampler, kKill>},
          {"hung_in_forward", fail_in<kForward, kHang>},
          {"hung_in_backward", fail_in<kBackward, kHang>},
          {"hung_in_sampler", fail_in<kSampler, kHang>},
          {"throw_in_loader", throw_in_loader},
          {"throw_with_a_sum_under_way", throw_with_a_sum_under_way},
          {"leave_in_training", leave_in_training},
          {"throw_in_thread", throw_in_thread},
          {"join_again", join_again},
          {"killed_in_training", killed_in_training},
          {"killed_before_rank_2_sends", killed_before_rank_2_sends},
          {"hung_in_training", hung_in_training},
          {"call_after_a_time_out", call_after_a_time_out},
          {"silent_in_training", silent_in_training},
          {"gather_in_vain", gather_in_vain},
          {"barrier_in_vain", barrier_in_vain},
          {"progress_goes_on", progress_goes_on},
          {"loader_epochs", loader_epochs},
          {"bad_samplers", bad_samplers},
          {"bad_modules", bad_modules},
          {"mismatch", mismatch}};
}

}  // namespace ddp::test
