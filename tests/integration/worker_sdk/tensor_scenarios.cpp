// Every collective of collectives.h besides those of collective_scenarios.cpp, on 2 and 3 ranks.
#include <signal.h>
#include <torch/torch.h>
#include <unistd.h>

#include <functional>
#include <iostream>

#include "ddp/ddp.h"
#include "tests/integration/worker_sdk/scenarios.h"

namespace ddp::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// "name: 1 2 3", on stdout.
void print(const std::string& name, const at::Tensor& tensor) {
  std::cout << name << ":";
  const at::Tensor flat = tensor.to(at::kDouble).flatten();
  for (int64_t i = 0; i < flat.numel(); ++i) std::cout << ' ' << flat[i].item<double>();
  std::cout << std::endl;
}

void print(const std::string& name, const std::vector<at::Tensor>& tensors) {
  std::cout << name << " has " << tensors.size() << std::endl;
  for (const at::Tensor& each : tensors) print(name, each);
}

at::Tensor mine() {
  return torch::tensor({1.0 + rank(), 10.0 * (1 + rank())}, at::kDouble);
}

at::Tensor number(double value) {
  return torch::full({1}, value, at::kDouble);
}

at::Tensor numbers(int count) {
  return torch::arange(count, at::kDouble);
}

void reduce_and_gather() {
  init_process_group();
  const at::Tensor sum = mine(), average = mine();
  reduce(sum, 1);
  if (rank() == 1) print("reduce", sum);
  reduce(average, 2, ReduceOp::AVG);
  if (rank() == 2) print("average", average);
  const at::Tensor complex = torch::complex(mine(), -mine());
  all_reduce(complex);
  print("complex", at::view_as_real(complex));

  const at::Tensor whole = at::empty({3, 2}, at::kDouble);
  all_gather_into_tensor(whole, mine());
  print("into tensor", whole);
  // Not contiguous: the columns are what is sent.
  const at::Tensor columns = at::empty({12}, at::kDouble);
  all_gather_into_tensor(columns, (numbers(4) + 10 * rank()).view({2, 2}).t());
  print("columns", columns);
  print("gather", gather(mine(), 2));
  destroy_process_group();
}

void scatter_and_exchange() {
  init_process_group();
  const int r = rank();
  const at::Tensor part = at::empty({1}, at::kDouble);
  std::vector<at::Tensor> parts;
  for (int i = 0; i < 3 && r == 1; ++i) parts.push_back(number(100 + i));
  scatter(part, parts, 1);
  print("scatter", part);

  const at::Tensor output = at::empty({2}, at::kDouble);
  std::vector<at::Tensor> inputs;
  for (int i = 0; i < 3; ++i) inputs.push_back(torch::tensor({1.0 + r, 1.0 * i}, at::kDouble));
  for (const auto& [name, op] : {std::pair<const char*, ReduceOp>{"SUM", ReduceOp::SUM},
                                 {"AVG", ReduceOp::AVG},
                                 {"MAX", ReduceOp::MAX}}) {
    reduce_scatter(output, inputs, op);
    print(name, output);
  }
  reduce_scatter_tensor(output, numbers(6) * (r + 1));
  print("tensor", output);

  // Rank r sends i + 1 numbers to rank i.
  std::vector<at::Tensor> sent, received;
  for (int i = 0; i < 3; ++i) {
    sent.push_back(torch::full({i + 1}, 10 * r + i, at::kInt));
    received.push_back(torch::empty({r + 1}, at::kInt));
  }
  all_to_all(received, sent);
  print("exchanged", received);
  const at::Tensor rows = numbers(3) + 10 * r, equal = at::empty({3}, at::kDouble);
  all_to_all_single(equal, rows);
  print("single", equal);
  const at::Tensor split = at::empty({3 * r}, at::kDouble);
  all_to_all_single(split, rows, {r, r, r}, {0, 1, 2});
  print("split", split);
  destroy_process_group();
}

void messages() {
  init_process_group();
  const int next = (rank() + 1) % 3, last = (rank() + 2) % 3;
  const at::Tensor own = mine(), other = at::empty({2}, at::kDouble);
  Work sending = isend(own, next, {}, 7);
  std::cout << "from " << recv(other, last, {}, 7) << std::endl;
  sending.wait();
  print("ring", other);
  if (rank() != 0) {
    send(mine(), 0);
  } else {
    for (int i = 0; i < 2; ++i) {
      const int source = recv(other);
      std::cout << "any source is right: " << (other[0].item<double>() == 1.0 + source)
                << std::endl;
    }
  }
  Work receiving = rank() == 1 ? irecv(other, 2) : Work{};
  if (rank() == 2) send(mine(), 1);
  if (rank() == 1) {
    std::cout << "not yet from " << receiving.source_rank() << std::endl;
    try {
      receiving.wait(milliseconds(1));
    } catch (const Error& error) {
      std::cout << error.what() << std::endl;
    }
  }
  receiving.wait();
  if (rank() == 1) std::cout << "irecv from " << receiving.source_rank() << std::endl;

  const std::string text = "text of " + std::string(rank(), '+') + std::to_string(rank());
  std::cout << broadcast_string(text, 2) << '|' << broadcast_string("", 0) << std::endl;
  for (const std::string& each : all_gather_string(rank() == 1 ? "" : text)) {
    std::cout << '<' << each << '>' << std::endl;
  }
  destroy_process_group();
}

// In the group of the ranks 0 and 2; `src` and `dst` are global ranks.
void in_a_sub_group() {
  init_process_group();
  const ProcessGroup outer = new_group({0, 2});
  const at::Tensor part = torch::zeros({1}, at::kDouble);
  std::vector<at::Tensor> parts;
  if (rank() == 2) parts = {number(5), number(6)};
  scatter(part, parts, 2, outer);
  print("scatter", part);
  print("gather", gather(mine(), 2, outer));
  const at::Tensor sum = mine();
  reduce(sum, 2, ReduceOp::SUM, outer);
  if (rank() == 2) print("reduce", sum);
  if (rank() == 0) send(mine(), 2, outer);
  if (rank() != 0) std::cout << "source " << recv(part.repeat(2), 0, outer) << std::endl;
  monitored_barrier(outer);
  std::cout << broadcast_string(std::to_string(rank()), 2, outer) << '|'
            << all_gather_string("x", outer).size() << '|'
            << all_reduce(sum, ReduceOp::SUM, outer, true).is_completed() << std::endl;
  barrier();
  destroy_process_group();
}

// Rank 1 takes part only when rank 0 has looked at an operation that is not over.
void asynchronous() {
  init_process_group({.shared_memory = wants_shared_memory()});
  const at::Tensor tensor = mine(), go = torch::zeros({1});
  if (rank() == 1) recv(go, 0);
  Work work = all_reduce(tensor, ReduceOp::AVG, {}, /*async_op=*/true);
  if (rank() == 0) {
    std::cout << "completed: " << work.is_completed() << ", success: " << work.is_success()
              << std::endl;
    try {
      work.wait(milliseconds(100));
    } catch (const Error& error) {
      std::cout << error.what() << std::endl;
    }
    send(go, 1);
  }
  print("average", work.result());
  work.wait();
  print("once only", tensor);
  std::cout << "completed: " << work.is_completed() << ", success: " << work.is_success()
            << ", exception: " << (work.exception() != nullptr) << std::endl;
  std::vector<at::Tensor> gathered, received{torch::empty({2}), torch::empty({2})};
  Work gathering = all_gather(gathered, mine(), {}, true);
  Work exchange =
      all_to_all(received, {torch::full({2}, 1.0 + rank()), torch::ones({2})}, {}, true);
  Work over = barrier({}, true);
  over.wait();
  print("gathered", gathering.result());
  print("exchanged", exchange.result());
  destroy_process_group();
}

// Rank 1 takes part only when rank 0, which needs it, has looked; the result is there right after
// wait().
void show_waited(const std::string& name, const std::vector<at::Tensor>& results,
                 const std::function<Work()>& start) {
  const at::Tensor go = torch::zeros({1});
  if (rank() == 1) recv(go, 0);
  Work work = start();
  if (rank() == 0) {
    std::cout << name << " is over: " << work.is_completed() << std::endl;
    send(go, 1);
  }
  work.wait();
  for (const at::Tensor& each : results) print(name, each);
  const bool all_is_said = work.is_completed() && work.is_success() && !work.exception();
  const at::Tensor first = work.get_future().wait();
  if (!all_is_said || (!results.empty() && !first.equal(results[0])))
    std::cout << name << " does not know that it is over" << std::endl;
}

void asynchronous_parts() {
  init_process_group();
  const int r = rank();
  const at::Tensor sum = mine(), sent = mine(), one = number(0), two = mine() * 0;
  std::vector<at::Tensor> gathered, inputs;
  const auto only_on = [&](int root, std::vector<at::Tensor> tensors) {
    return r == root ? tensors : std::vector<at::Tensor>();
  };
  show_waited("reduce", only_on(0, {sum}), [&] { return reduce(sum, 0, ReduceOp::AVG, {}, true); });
  show_waited("broadcast", {sent}, [&] { return broadcast(sent, 1, {}, true); });
  show_waited("gather", gathered, [&] { return gather(gathered, mine(), 0, {}, true); });
  inputs = only_on(1, {number(5), number(6)});
  show_waited("scatter", {one}, [&] { return scatter(one, inputs, 1, {}, true); });
  inputs = {mine(), mine() * 2};
  show_waited("reduce_scatter", {two},
              [&] { return reduce_scatter(two, inputs, ReduceOp::AVG, {}, true); });
  show_waited("reduce_scatter_tensor", {two}, [&] {
    return reduce_scatter_tensor(two, numbers(4) * (r + 1), ReduceOp::SUM, {}, true);
  });
  show_waited("all_to_all_single", {two},
              [&] { return all_to_all_single(two, numbers(2) + 10 * r, {}, {}, {}, true); });
  destroy_process_group();
}

void asynchronous_and_lost() {
  init_process_group();
  barrier();
  if (rank() == 1) raise(SIGKILL);
  Work work = all_gather_into_tensor(torch::empty({4}, at::kDouble), mine(), {}, true);
  try {
    work.wait();
  } catch (const Error&) {
  }
  std::cout << "completed: " << work.is_completed() << ", success: " << work.is_success()
            << std::endl;
  std::rethrow_exception(work.exception());
}

void monitored() {
  init_process_group();
  monitored_barrier();
  monitored_barrier({}, seconds(20));
  std::cout << "passed" << std::endl;
  if (rank() == 1) pause();
  monitored_barrier({}, seconds(2));
}

void refused_arguments() {
  init_process_group({.backend = "gloo"});
  const ProcessGroup alone = new_group({0});
  const at::Tensor two = torch::zeros({2}), four = torch::zeros({4});
  const at::Tensor slice = torch::zeros({2, 2}).select(1, 0);
  std::vector<at::Tensor> one{two}, wrong{two, four}, some{two, two}, none;
  const std::function<void()> calls[] = {
      [&] { reduce(two, 7); },
      [&] {
        if (rank() == 0)
          broadcast(two, 1, alone);
        else
          throw Error(1, "not asked");
      },
      [&] { all_reduce(at::Tensor()); },
      [&] { all_reduce(two.to(at::kShort)); },
      [&] { all_reduce(two.to(at::kLong), ReduceOp::AVG); },
      [&] { all_reduce(two, ReduceOp::BXOR); },
      [&] { all_reduce(two, ReduceOp::premul_sum(0.5)); },
      [&] { all_reduce(torch::zeros({2}, at::kComplexFloat), ReduceOp::MAX); },
      [&] { all_reduce(torch::zeros({2}, torch::device(at::kMeta))); },
      [&] { all_reduce(slice); },
      [&] { all_gather(one, two); },
      [&] { all_gather(wrong, two); },
      [&] { all_gather_into_tensor(two, two); },
      [&] { gather(some, two, 1 - rank()); },
      [&] { scatter(two, one, rank()); },
      [&] { reduce_scatter(two, wrong); },
      [&] { reduce_scatter_tensor(two, four.to(at::kDouble)); },
      [&] { all_to_all(some, one); },
      [&] { all_to_all_single(four, torch::zeros({3})); },
      [&] {
        all_to_all_single(four, four, {1, 2}, {2, 2});
      },
      [&] { send(two, rank()); },
      [&] { monitored_barrier({}, seconds(0)); },
      [&] {
        Work work = barrier({}, true);
        work.wait();
        work.wait(seconds(0));
      },
  };
  for (const auto& call : calls) {
    try {
      call();
      std::cout << "not refused" << std::endl;
    } catch (const Error& error) {
      std::cout << error.what() << std::endl;
    }
  }
  // The group is as it was.
  all_reduce(two);
  barrier();
  destroy_process_group();
}

}  // namespace

Scenarios tensor_scenarios() {
  return {{"reduce_and_gather", reduce_and_gather},
          {"scatter_and_exchange", scatter_and_exchange},
          {"messages", messages},
          {"in_a_sub_group", in_a_sub_group},
          {"asynchronous", asynchronous},
          {"asynchronous_parts", asynchronous_parts},
          {"asynchronous_and_lost", asynchronous_and_lost},
          {"monitored", monitored},
          {"refused_arguments", refused_arguments}};
}

}  // namespace ddp::test
