// Everything that differs between the supported versions of LibTorch, 2.7 to 2.15. What exists is
// detected; version numbers are not compared.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#include <torch/csrc/distributed/c10d/reducer.hpp>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ddp::compat {

// Arguments of the Reducer that the SDK sets, in the order of all its constructors.
struct ReducerArguments {
  std::vector<at::Tensor> parameters;
  std::vector<std::vector<std::size_t>> buckets;
  c10::intrusive_ptr<c10d::ProcessGroup> group;
  std::vector<bool> expect_sparse;
  std::int64_t bucket_bytes_cap = 0;
  bool find_unused_parameters = false;
  bool gradient_as_bucket_view = false;
  std::unordered_map<std::size_t, std::string> names;
  std::int64_t first_bucket_bytes_cap = 0;
  bool skip_all_reduce_unused_params = false;
  std::vector<std::int64_t> bucket_bytes_cap_list = {};
  bool batched_grad_copy = false;
  bool lazy_bucket_allocation = false;
};

// Its constructor got one argument after the other at its end.
template <class Reducer, class... More>
constexpr bool kReducerTakes =
    std::is_constructible_v<Reducer, std::vector<at::Tensor>, std::vector<std::vector<std::size_t>>,
                            c10::intrusive_ptr<c10d::ProcessGroup>, std::vector<bool>, std::int64_t,
                            bool, bool, std::unordered_map<std::size_t, std::string>, std::int64_t,
                            More...>;
using BucketCaps = std::vector<std::int64_t>;
template <class Reducer>
constexpr bool kAllocatesLazily = kReducerTakes<Reducer, bool, bool, BucketCaps, bool, bool>;
template <class Reducer>
constexpr bool kCopiesInBatches =
    kAllocatesLazily<Reducer> || kReducerTakes<Reducer, bool, bool, BucketCaps, bool>;
template <class Reducer>
constexpr bool kHasCapList =
    kCopiesInBatches<Reducer> || kReducerTakes<Reducer, bool, bool, BucketCaps>;
template <class Reducer>
constexpr bool kSkipsUnused = kHasCapList<Reducer> || kReducerTakes<Reducer, bool, bool>;

// The first option that is set and that this LibTorch's Reducer does not have, else null.
template <class Reducer = c10d::Reducer>
const char* missing_option(const ReducerArguments& a) {
  if (a.skip_all_reduce_unused_params && !kSkipsUnused<Reducer>) {
    return "skip_all_reduce_unused_params";
  }
  if (!a.bucket_bytes_cap_list.empty() && !kHasCapList<Reducer>) return "bucket_cap_mb_list";
  if (a.batched_grad_copy && !kCopiesInBatches<Reducer>) return "batched_grad_copy";
  if (a.lazy_bucket_allocation && !kAllocatesLazily<Reducer>) return "lazy_bucket_allocation";
  return nullptr;
}

template <class Reducer = c10d::Reducer>
std::shared_ptr<Reducer> make_reducer(ReducerArguments a) {
  [[maybe_unused]] const auto make = [&a](auto... more) {
    return std::make_shared<Reducer>(
        std::move(a.parameters), std::move(a.buckets), std::move(a.group),
        std::move(a.expect_sparse), a.bucket_bytes_cap, a.find_unused_parameters,
        a.gradient_as_bucket_view, std::move(a.names), a.first_bucket_bytes_cap, more...);
  };
  [[maybe_unused]] const bool skip = a.skip_all_reduce_unused_params, python = false;
  if constexpr (kAllocatesLazily<Reducer>) {
    return make(skip, python, a.bucket_bytes_cap_list, a.batched_grad_copy,
                a.lazy_bucket_allocation);
  } else if constexpr (kCopiesInBatches<Reducer>) {
    return make(skip, python, a.bucket_bytes_cap_list, a.batched_grad_copy);
  } else if constexpr (kHasCapList<Reducer>) {
    return make(skip, python, a.bucket_bytes_cap_list);
  } else if constexpr (kSkipsUnused<Reducer>) {
    return make(skip, python);
  } else {
    return make();
  }
}

// Some distributions build LibTorch without libuv, and its TCPStore then refuses its own default.
template <class Options = c10d::TCPStoreOptions>
void set_use_libuv(Options& options, bool use) {
  if constexpr (requires { options.useLibUV; }) options.useLibUV = use;
}

// Time-out, and the network devices: GLOO_SOCKET_IFNAME, else the host's name, else loopback. Newer
// versions do it themselves. A template because only one source file may see Gloo's declarations.
template <class Gloo>
auto gloo_options(std::chrono::milliseconds timeout, const std::vector<std::string>& interfaces) {
  using Options = typename Gloo::Options;
  if constexpr (requires { Options::create_default(timeout); }) {
    return Options::create_default(timeout);
  } else {
    auto options = Options::create(timeout);
    for (const std::string& interface : interfaces) {
      options->devices.push_back(Gloo::createDeviceForInterface(interface));
    }
    if (interfaces.empty()) options->devices.push_back(Gloo::createDefaultDevice());
    options->threads = static_cast<int>(options->devices.size()) * 2;
    return options;
  }
}

// Newer versions have new names for the collectives on one tensor, and deprecate the old ones.
template <class Group = c10d::ProcessGroup>
auto all_gather_single(Group& group, at::Tensor& whole, at::Tensor& part) {
  if constexpr (requires { group.all_gather_single(whole, part); }) {
    return group.all_gather_single(whole, part);
  } else {
    return group._allgather_base(whole, part);
  }
}

template <class Group = c10d::ProcessGroup>
auto reduce_scatter_single(Group& group, at::Tensor& part, at::Tensor& whole,
                           const c10d::ReduceScatterOptions& options) {
  if constexpr (requires { group.reduce_scatter_single(part, whole, options); }) {
    return group.reduce_scatter_single(part, whole, options);
  } else {
    return group._reduce_scatter_base(part, whole, options);
  }
}

template <class Group = c10d::ProcessGroup>
auto all_to_all_single(Group& group, at::Tensor& received, at::Tensor& sent,
                       std::vector<std::int64_t>& from, std::vector<std::int64_t>& to) {
  if constexpr (requires { group.all_to_all_single(received, sent, from, to); }) {
    return group.all_to_all_single(received, sent, from, to);
  } else {
    return group.alltoall_base(received, sent, from, to);
  }
}

// Has had two names. A template, so that the one that is not there is not looked up.
template <class Factor>
c10d::ReduceOp premul_sum(const Factor& factor) {
  using namespace c10d;
  if constexpr (requires { makePreMulSum(factor); }) {
    return makePreMulSum(factor);
  } else {
    return makeNCCLPreMulSum(factor);
  }
}

}  // namespace ddp::compat
