// Batch normalization over the batches of all ranks together.
//
//   Net net;                                   // has BatchNorm1d, 2d or 3d in it
//   ddp::convert_sync_batchnorm(net);          // from now on they see the batches of all ranks
//   ddp::DistributedDataParallel<Net> model(net);
//
// In training, mean and variance are those of the joined batch, and so are the running statistics
// and the gradients of the inputs; those of weight and bias are this rank's part, which
// DistributedDataParallel averages. In eval mode, with one rank, and without a process group, it is
// plain batch normalization. Ranks may have batches of different sizes, also empty ones, but every
// rank of the group must run forward and backward equally often. Errors are ddp::Error, those of
// backward() with Gloo. After one on some ranks only, such as for the shape of their input, the
// others wait for them until their time-out. Its backward cannot be differentiated (no
// create_graph).
//
// Python refuses tensors on the CPU; here they are computed with formulas of our own. On GPUs it
// uses Python's kernels and collectives, so that Python ranks can take part; that half compiles but
// has not been run on a GPU yet.
#pragma once

#include <torch/nn/modules/batchnorm.h>

#include <concepts>
#include <cstdint>
#include <utility>

#include "ddp/export.h"
#include "ddp/process_group.h"

namespace ddp {

// A layer for inputs of shape (batch, num_features, …), with names and defaults of BatchNorm1d, 2d
// and 3d, whose checkpoints it reads.
// PyTorch: torch.nn.SyncBatchNorm.
class DDP_API SyncBatchNormImpl
    : public torch::nn::NormImplBase<0, SyncBatchNormImpl, torch::nn::BatchNormOptions> {
 public:
  // `group`: the ranks whose batches are joined; the empty handle is the default group at the time
  // of each forward. On a rank outside the group it is plain batch normalization.
  explicit SyncBatchNormImpl(std::int64_t num_features, ProcessGroup group = {})
      : SyncBatchNormImpl(torch::nn::BatchNormOptions(num_features), std::move(group)) {}
  explicit SyncBatchNormImpl(const torch::nn::BatchNormOptions& how, ProcessGroup group = {});

  // Blocks, in training, until all ranks of the group have come here.
  at::Tensor forward(const at::Tensor& input);
  void pretty_print(std::ostream& stream) const override;

 private:
  void _check_input_dim(const at::Tensor& input) override;

  ProcessGroup group_;
};
TORCH_MODULE(SyncBatchNorm);

// Makes each BatchNorm1d, 2d and 3d in the module, or the module itself, work like SyncBatchNorm.
// Where Python exchanges the layers, this marks them, for the typed members through which a C++
// module calls its layers cannot be exchanged: aten::batch_norm looks for the mark. The first call
// in a process registers that look-up; unmarked batch norms give the same bits as before.
//
// A mark goes with its layer: it survives to(), train() and loading of checkpoints; clone() makes
// layers without. Marking again replaces the group. Throws ddp::Error for a layer with neither
// weights nor running statistics (there is nothing to know it by; use SyncBatchNorm); then no layer
// is marked. As in LibTorch, a marked layer refuses a batch with one value per channel on this
// rank; SyncBatchNorm takes it. Not while another thread is in a forward.
// PyTorch: torch.nn.SyncBatchNorm.convert_sync_batchnorm.
DDP_API void convert_sync_batchnorm(torch::nn::Module& module, const ProcessGroup& group = {});

// The same for a holder or a shared_ptr, which it returns, as Python does.
template <class Holder>
  requires requires(Holder& holder) {
    { *holder } -> std::convertible_to<torch::nn::Module&>;
  }
Holder convert_sync_batchnorm(Holder holder, const ProcessGroup& group = {}) {
  convert_sync_batchnorm(static_cast<torch::nn::Module&>(*holder), group);
  return holder;
}

}  // namespace ddp
