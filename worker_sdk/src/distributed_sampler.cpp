#include "ddp/distributed_sampler.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Functions.h>
#include <torch/serialize/archive.h>

#include <algorithm>
#include <string>

#include "ddp/error.h"
#include "ddp/process_group.h"
#include "worker_sdk/src/sampler_share.h"

namespace ddp {
namespace {

constexpr const char* kEpochKey = "epoch";
constexpr const char* kPlaceKey = "place";

[[noreturn]] void fail(const std::string& text) {
  throw Error(is_initialized() ? get_rank() : -1, "DistributedSampler: " + text);
}

void check_size(std::size_t dataset_size) {
  if (dataset_size == 0) {
    fail("the data set is empty. Was it read from the right place?");
  }
}

// The argument if there is one, else the process group's own answer.
int or_from_group(std::optional<int> given, int (*ask)(), const char* name) {
  if (given) return *given;
  if (!is_initialized()) {
    fail(std::string(name) +
         " was not given and there is no process group to take it from. Call "
         "ddp::init_process_group() first, "
         "or give both num_replicas and rank.");
  }
  return ask();
}

std::size_t checked_replicas(int num_replicas) {
  if (num_replicas < 1) {
    fail("num_replicas is " + std::to_string(num_replicas) + ", expected 1 or more.");
  }
  return static_cast<std::size_t>(num_replicas);
}

std::size_t checked_rank(int rank, std::size_t num_replicas) {
  if (rank < 0 || static_cast<std::size_t>(rank) >= num_replicas) {
    fail("rank is " + std::to_string(rank) + ", expected 0 to " + std::to_string(num_replicas - 1) +
         " for num_replicas " + std::to_string(num_replicas) + ".");
  }
  return static_cast<std::size_t>(rank);
}

std::int64_t read_number(torch::serialize::InputArchive& archive, const char* key) {
  at::Tensor number;
  archive.read(key, number, /*is_buffer=*/true);
  return number.item<std::int64_t>();
}

}  // namespace

DistributedSampler::DistributedSampler(std::size_t dataset_size, DistributedSamplerOptions options)
    : size_(dataset_size),
      num_replicas_(checked_replicas(or_from_group(
          options.num_replicas, [] { return get_world_size(); }, "num_replicas"))),
      rank_(checked_rank(or_from_group(
                             options.rank, [] { return get_rank(); }, "rank"),
                         num_replicas_)),
      shuffle_(options.shuffle),
      seed_(options.seed),
      drop_last_(options.drop_last),
      epoch_(std::make_shared<std::atomic<std::int64_t>>(0)) {
  check_size(dataset_size);
}

void DistributedSampler::set_epoch(std::int64_t epoch) {
  *epoch_ = epoch;
}

std::int64_t DistributedSampler::epoch() const {
  return *epoch_;
}

std::size_t DistributedSampler::num_samples() const {
  return detail::SamplerShare{size_, num_replicas_, rank_, drop_last_}.num_samples();
}

void DistributedSampler::reset(std::optional<std::size_t> new_size) {
  if (new_size) {
    check_size(*new_size);
    size_ = *new_size;
  }
  deal_indices();
  next_ = 0;
}

void DistributedSampler::deal_indices() {
  indices_ = detail::SamplerShare{size_, num_replicas_, rank_, drop_last_}.places();
  if (!shuffle_) return;
  auto generator =
      at::make_generator<at::CPUGeneratorImpl>(seed_ + static_cast<std::uint64_t>(*epoch_));
  // On the CPU whatever the default device is: other devices permute differently.
  const auto order = at::randperm(static_cast<std::int64_t>(size_), generator,
                                  at::TensorOptions().dtype(at::kLong).device(at::kCPU));
  const auto* sample = order.const_data_ptr<std::int64_t>();
  for (auto& index : *indices_) index = static_cast<std::size_t>(sample[index]);
}

std::optional<std::vector<std::size_t>> DistributedSampler::next(std::size_t batch_size) {
  if (batch_size == 0) fail("batch size is 0, expected 1 or more.");
  if (!indices_) reset();
  const std::size_t left = indices_->size() - next_;
  if (left == 0) return std::nullopt;
  const auto begin = indices_->begin() + static_cast<std::ptrdiff_t>(next_);
  const std::size_t count = std::min(batch_size, left);
  next_ += count;
  return std::vector<std::size_t>(begin, begin + static_cast<std::ptrdiff_t>(count));
}

void DistributedSampler::save(torch::serialize::OutputArchive& archive) const {
  const auto number = [](std::int64_t value) { return at::scalar_tensor(value, at::kLong); };
  archive.write(kEpochKey, number(*epoch_), /*is_buffer=*/true);
  archive.write(kPlaceKey, number(static_cast<std::int64_t>(next_)), /*is_buffer=*/true);
}

void DistributedSampler::load(torch::serialize::InputArchive& archive) {
  const std::int64_t epoch = read_number(archive, kEpochKey);
  const std::int64_t place = read_number(archive, kPlaceKey);
  if (place < 0 || static_cast<std::size_t>(place) > num_samples()) {
    fail("the saved place is " + std::to_string(place) + " of an epoch of " +
         std::to_string(num_samples()) +
         " samples for each rank. Was it saved with other arguments?");
  }
  *epoch_ = epoch;
  deal_indices();
  next_ = static_cast<std::size_t>(place);
}

}  // namespace ddp
