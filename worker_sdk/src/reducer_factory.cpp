#include "worker_sdk/src/reducer_factory.h"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <tuple>
#include <utility>

#include "worker_sdk/src/compat.h"

namespace ddp::detail {
namespace {

constexpr const char* kName = "DistributedDataParallel: ";
constexpr double kMiB = 1024 * 1024;
constexpr double kDefaultBucketCapMb = 25;

// In bytes.
struct BucketCaps {
  std::int64_t usual = 0, first = 0;
  std::vector<std::int64_t> list;  // one for each of the first buckets; may be empty
};

std::int64_t bytes(double mib) {
  constexpr double kMost = 1e18;  // no number of bytes that fits in 64 bits is far above it
  return static_cast<std::int64_t>(std::min(mib * kMiB, kMost));
}

BucketCaps bucket_caps(const DistributedDataParallelOptions& options) {
  BucketCaps caps;
  for (const double mib : options.bucket_cap_mb_list) caps.list.push_back(bytes(mib));
  if (!caps.list.empty()) {
    caps.usual = caps.first = *std::max_element(caps.list.begin(), caps.list.end());
  } else if (options.bucket_cap_mb) {
    caps.usual = caps.first = bytes(*options.bucket_cap_mb);
  } else {
    caps.usual = bytes(kDefaultBucketCapMb);
    caps.first = c10d::kDefaultFirstBucketBytes;
  }
  return caps;
}

// In the first iteration everything is one bucket, unless unused parameters are looked for: then
// the buckets are never built again, so they have their final size at once.
std::vector<std::size_t> first_bucket_limits(const DistributedDataParallelOptions& options,
                                             const BucketCaps& caps) {
  if (!caps.list.empty()) return {caps.list.begin(), caps.list.end()};
  if (options.static_graph || !options.find_unused_parameters) {
    return {static_cast<std::size_t>(std::numeric_limits<std::int64_t>::max())};
  }
  if (caps.first == caps.usual) return {static_cast<std::size_t>(caps.usual)};
  return {static_cast<std::size_t>(caps.first), static_cast<std::size_t>(caps.usual)};
}

}  // namespace

void check_options(const GroupState& group, const DistributedDataParallelOptions& options) {
  if (options.bucket_cap_mb && !(*options.bucket_cap_mb > 0)) {
    throw Error(group.global_rank, std::string(kName) + "bucket_cap_mb must be more than 0");
  }
  for (const double mib : options.bucket_cap_mb_list) {
    if (mib > 0) continue;
    throw Error(group.global_rank,
                std::string(kName) + "each number in bucket_cap_mb_list must be more than 0");
  }
  if (options.static_graph && options.find_unused_parameters) {
    std::fprintf(stderr,
                 "[rank %d] %sfind_unused_parameters is not needed with static_graph, which finds "
                 "them in the first iteration\n",
                 group.global_rank, kName);
  }
}

std::shared_ptr<c10d::Reducer> make_reducer(const GroupState& group,
                                            const TrainableParameters& parameters,
                                            const DistributedDataParallelOptions& options) {
  BucketCaps caps = bucket_caps(options);
  auto buckets = std::get<0>(c10d::compute_bucket_assignment_by_size(
      parameters.tensors, first_bucket_limits(options, caps), parameters.expect_sparse));
  // Gradients come roughly in the opposite order of the parameters.
  std::reverse(buckets.begin(), buckets.end());
  compat::ReducerArguments arguments{
      .parameters = parameters.tensors,
      .buckets = std::move(buckets),
      .group = group.group,
      .expect_sparse = parameters.expect_sparse,
      .bucket_bytes_cap = caps.usual,
      .find_unused_parameters = options.find_unused_parameters,
      .gradient_as_bucket_view = options.gradient_as_bucket_view,
      .names = parameters.names,
      .first_bucket_bytes_cap = caps.first,
      .skip_all_reduce_unused_params = options.skip_all_reduce_unused_params,
      .bucket_bytes_cap_list = std::move(caps.list),
      .batched_grad_copy = options.batched_grad_copy,
      .lazy_bucket_allocation = options.lazy_bucket_allocation};
  if (const char* missing = compat::missing_option(arguments)) {
    throw Error(group.global_rank, std::string(kName) +
                                       "this version of LibTorch does not have the option " +
                                       missing + "; leave it out or build with a newer one");
  }
  return compat::make_reducer(std::move(arguments));
}

}  // namespace ddp::detail
