// The collectives with a part for each rank.
#include <ATen/Functions.h>
#include <torch/csrc/distributed/c10d/debug.h>

#include <functional>
#include <numeric>

#include "ddp/collectives.h"
#include "worker_sdk/src/collective_call.h"
#include "worker_sdk/src/compat.h"

namespace ddp {

using detail::as_input;
using detail::as_real;
using detail::CollectiveCall;

namespace {

std::vector<at::Tensor> all_as_real(const std::vector<at::Tensor>& tensors) {
  std::vector<at::Tensor> result;
  for (const at::Tensor& each : tensors) result.push_back(as_real(each));
  return result;
}

std::vector<at::Tensor> all_as_inputs(const std::vector<at::Tensor>& tensors) {
  std::vector<at::Tensor> result;
  for (const at::Tensor& each : tensors) result.push_back(as_input(each));
  return result;
}

// All elements behind each other.
at::Tensor flat(const std::vector<at::Tensor>& tensors) {
  std::vector<at::Tensor> parts;
  for (const at::Tensor& each : tensors) parts.push_back(as_input(each).flatten());
  return at::cat(parts);
}

// Fills an empty list of outputs, or checks it.
void prepare_outputs(const CollectiveCall& call, std::vector<at::Tensor>& outputs,
                     const at::Tensor& tensor) {
  if (outputs.empty()) {
    for (std::size_t i = 0; i < call.size(); ++i) {
      outputs.push_back(at::empty(tensor.sizes(), tensor.options().requires_grad(false)));
    }
  }
  call.check_list(outputs, "outputs", tensor);
  for (const at::Tensor& each : outputs) call.check_output(each, "each of outputs");
}

void refuse_list_off_root(const CollectiveCall& call, const std::vector<at::Tensor>& list,
                          const char* name, const char* root_name, int root) {
  if (list.empty()) return;
  call.refuse(std::string(name) + " is for " + root_name + " only, rank " + std::to_string(root) +
              "; it must be empty on the other ranks");
}

}  // namespace

std::vector<at::Tensor> all_gather(const at::Tensor& tensor, const ProcessGroup& group) {
  std::vector<at::Tensor> outputs;
  all_gather(outputs, tensor, group, false);
  return outputs;
}

Work all_gather(std::vector<at::Tensor>& outputs, const at::Tensor& tensor,
                const ProcessGroup& group, bool async_op) {
  const CollectiveCall call(group, "all_gather");
  if (!call.is_member()) return {};
  call.check_input(tensor, "the tensor");
  prepare_outputs(call, outputs, tensor);
  return call.start(
      [&] {
        std::vector<std::vector<at::Tensor>> lists{all_as_real(outputs)};
        std::vector<at::Tensor> inputs{as_input(tensor)};
        return call.c10d().allgather(lists, inputs);
      },
      outputs, async_op);
}

Work all_gather_into_tensor(const at::Tensor& output, const at::Tensor& input,
                            const ProcessGroup& group, bool async_op) {
  const CollectiveCall call(group, "all_gather_into_tensor");
  if (!call.is_member()) return {};
  call.check_output(output, "output");
  call.check_input(input, "input");
  call.check_whole_and_part(output, "output", input, "input");
  return call.start(
      [&] {
        at::Tensor whole = as_real(output).view(-1), part = as_input(input).view(-1);
        return compat::all_gather_single(call.c10d(), whole, part);
      },
      {output}, async_op);
}

std::vector<at::Tensor> gather(const at::Tensor& tensor, int dst, const ProcessGroup& group) {
  std::vector<at::Tensor> outputs;
  gather(outputs, tensor, dst, group, false);
  return outputs;
}

Work gather(std::vector<at::Tensor>& outputs, const at::Tensor& tensor, int dst,
            const ProcessGroup& group, bool async_op) {
  const CollectiveCall call(group, "gather");
  if (!call.is_member()) return {};
  const int root = call.index_of(dst);
  call.check_input(tensor, "the tensor");
  const bool is_root = root == call.group().rank;
  if (is_root) {
    prepare_outputs(call, outputs, tensor);
  } else {
    refuse_list_off_root(call, outputs, "outputs", "dst", dst);
  }
  return call.start(
      [&] {
        std::vector<std::vector<at::Tensor>> lists;
        if (is_root) lists.push_back(all_as_real(outputs));
        std::vector<at::Tensor> inputs{as_input(tensor)};
        c10d::GatherOptions options;
        options.rootRank = root;
        return call.c10d().gather(lists, inputs, options);
      },
      outputs, async_op);
}

Work scatter(const at::Tensor& output, const std::vector<at::Tensor>& inputs, int src,
             const ProcessGroup& group, bool async_op) {
  const CollectiveCall call(group, "scatter");
  if (!call.is_member()) return {};
  const int root = call.index_of(src);
  call.check_output(output, "output");
  const bool is_root = root == call.group().rank;
  if (is_root) {
    call.check_list(inputs, "inputs", output);
  } else {
    refuse_list_off_root(call, inputs, "inputs", "src", src);
  }
  return call.start(
      [&] {
        std::vector<at::Tensor> outputs{as_real(output)};
        std::vector<std::vector<at::Tensor>> lists;
        if (is_root) lists.push_back(all_as_inputs(inputs));
        c10d::ScatterOptions options;
        options.rootRank = root;
        return call.c10d().scatter(outputs, lists, options);
      },
      {output}, async_op);
}

namespace {

// Gloo's own: with LibTorch 2.7 it silently adds up whatever the operation is, and what it returns
// is never completed, has no future and waits for longer than it is told.
Work reduce_all_and_keep_a_part(const CollectiveCall& call, const at::Tensor& output,
                                const detail::Reduction& reduction, bool async_op,
                                const at::Tensor& whole) {
  const at::Tensor all = whole.clone();
  const int divisor = reduction.divide ? call.group().size() : 1;
  const auto keep = [all, output, divisor, rank = call.group().rank] {
    at::Tensor part = as_real(output).view(-1);
    part.copy_(all.narrow(0, rank * part.numel(), part.numel()));
    if (divisor > 1) part.div_(divisor);
  };
  return call.start(
      [&] {
        std::vector<at::Tensor> tensors{all};
        c10d::AllreduceOptions options;
        options.reduceOp = reduction.op;
        return call.c10d().allreduce(tensors, options);
      },
      {output}, async_op, keep);
}

// `whole()` gives the parts behind each other; it is called when the arguments have been checked.
template <class Whole>
Work reduce_scatter_parts(const CollectiveCall& call, const at::Tensor& output, ReduceOp op,
                          bool async_op, Whole&& whole) {
  const detail::Reduction reduction = call.reduction(op, output);
  // Where collectives are compared, a Python rank calls this one by its own name.
  const bool compared =
      c10d::debug_level() == c10d::DebugLevel::Detail && reduction.op == c10d::ReduceOp::SUM;
  if (call.is_on_gloo(output) && !compared)
    return reduce_all_and_keep_a_part(call, output, reduction, async_op, whole());
  std::function<void()> finish;
  if (reduction.divide) finish = [output, size = call.group().size()] { output.div_(size); };
  return call.start(
      [&] {
        at::Tensor part = as_real(output).view(-1), parts = whole();
        c10d::ReduceScatterOptions options;
        options.reduceOp = reduction.op;
        return compat::reduce_scatter_single(call.c10d(), part, parts, options);
      },
      {output}, async_op, std::move(finish));
}

}  // namespace

Work reduce_scatter(const at::Tensor& output, const std::vector<at::Tensor>& inputs, ReduceOp op,
                    const ProcessGroup& group, bool async_op) {
  const CollectiveCall call(group, "reduce_scatter");
  if (!call.is_member()) return {};
  call.check_output(output, "output");
  call.check_list(inputs, "inputs", output);
  // As one tensor, because not every Gloo knows the form with a list.
  return reduce_scatter_parts(call, output, op, async_op, [&] { return flat(inputs); });
}

Work reduce_scatter_tensor(const at::Tensor& output, const at::Tensor& input, ReduceOp op,
                           const ProcessGroup& group, bool async_op) {
  const CollectiveCall call(group, "reduce_scatter_tensor");
  if (!call.is_member()) return {};
  call.check_output(output, "output");
  call.check_input(input, "input");
  call.check_whole_and_part(input, "input", output, "output");
  return reduce_scatter_parts(call, output, op, async_op, [&] { return as_input(input).view(-1); });
}

namespace {

void check_all_to_all_list(const CollectiveCall& call, const std::vector<at::Tensor>& list,
                           const char* name) {
  call.check_length(list.size(), name);
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string element = std::string(name) + "[" + std::to_string(i) + "]";
    call.check_input(list[i], element);
    if (list[i].scalar_type() != list[0].scalar_type() || list[i].device() != list[0].device()) {
      call.refuse(element + " has another type or device than " + name + "[0]");
    }
  }
}

std::vector<std::int64_t> flat_sizes(const std::vector<at::Tensor>& tensors) {
  std::vector<std::int64_t> sizes;
  for (const at::Tensor& each : tensors) sizes.push_back(as_real(each).numel());
  return sizes;
}

// Cuts what came into the parts that `outputs` expects.
void hand_out(const at::Tensor& received, const std::vector<at::Tensor>& outputs) {
  std::int64_t begin = 0;
  for (const at::Tensor& each : outputs) {
    const at::Tensor target = as_real(each);
    target.copy_(received.narrow(0, begin, target.numel()).view(target.sizes()));
    begin += target.numel();
  }
}

void check_splits(const CollectiveCall& call, const std::vector<std::int64_t>& splits,
                  const at::Tensor& tensor, const std::string& name) {
  if (tensor.dim() == 0) call.refuse(name + " has no dimension to cut");
  const std::int64_t rows = tensor.size(0);
  if (splits.empty()) {
    if (rows % call.group().size() == 0) return;
    call.refuse(name + " has " + std::to_string(rows) + " rows, which " +
                std::to_string(call.size()) + " ranks cannot share equally; pass split sizes");
  }
  call.check_length(splits.size(), name + "_split_sizes");
  std::int64_t sum = 0;
  for (const std::int64_t each : splits) {
    if (each < 0) call.refuse(name + "_split_sizes has a negative number");
    sum += each;
  }
  if (sum == rows) return;
  call.refuse(name + "_split_sizes add up to " + std::to_string(sum) + ", but " + name + " has " +
              std::to_string(rows) + " rows");
}

}  // namespace

Work all_to_all(const std::vector<at::Tensor>& outputs, const std::vector<at::Tensor>& inputs,
                const ProcessGroup& group, bool async_op) {
  const CollectiveCall call(group, "all_to_all");
  if (!call.is_member()) return {};
  check_all_to_all_list(call, outputs, "outputs");
  check_all_to_all_list(call, inputs, "inputs");
  for (const at::Tensor& each : outputs) call.check_output(each, "each of outputs");
  if (outputs[0].scalar_type() != inputs[0].scalar_type()) {
    call.refuse("outputs and inputs have different types");
  }
  // As one tensor, because not every Gloo knows the form with lists.
  auto to = flat_sizes(inputs), from = flat_sizes(outputs);
  at::Tensor sent = flat(inputs);
  at::Tensor received =
      at::empty({std::accumulate(from.begin(), from.end(), std::int64_t{0})}, sent.options());
  return call.start(
      [&] { return compat::all_to_all_single(call.c10d(), received, sent, from, to); }, outputs,
      async_op, [received, outputs] { hand_out(received, outputs); });
}

Work all_to_all_single(const at::Tensor& output, const at::Tensor& input,
                       const std::vector<std::int64_t>& output_split_sizes,
                       const std::vector<std::int64_t>& input_split_sizes,
                       const ProcessGroup& group, bool async_op) {
  const CollectiveCall call(group, "all_to_all_single");
  if (!call.is_member()) return {};
  call.check_output(output, "output");
  call.check_input(input, "input");
  if (output.scalar_type() != input.scalar_type()) {
    call.refuse("output and input have different types");
  }
  check_splits(call, output_split_sizes, output, "output");
  check_splits(call, input_split_sizes, input, "input");
  return call.start(
      [&] {
        at::Tensor received = as_real(output), sent = as_input(input);
        auto from = output_split_sizes, to = input_split_sizes;
        return compat::all_to_all_single(call.c10d(), received, sent, from, to);
      },
      {output}, async_op);
}

}  // namespace ddp
