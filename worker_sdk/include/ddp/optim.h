// Adam and AdamW with Python's arithmetic: those of LibTorch round differently in the last bit,
// these give the weights of torch.optim, bit for bit.
//
// They are LibTorch's own classes but for step(): same options, same state, usable wherever a
// torch::optim::Optimizer is. SGD, RMSprop and Adagrad of LibTorch need no counterpart here.
#pragma once

#include <torch/optim/adam.h>
#include <torch/optim/adamw.h>

#include "ddp/export.h"

namespace ddp::optim {

// PyTorch: torch.optim.Adam with foreach=False, which is what it does on the CPU.
class DDP_API Adam : public torch::optim::Adam {
 public:
  using torch::optim::Adam::Adam;

  // One step for every parameter that has a gradient. Returns the loss of `closure`, if one is
  // given. Throws ddp::Error for sparse gradients.
  at::Tensor step(LossClosure closure = nullptr) override;
};

// PyTorch: torch.optim.AdamW with foreach=False.
class DDP_API AdamW : public torch::optim::AdamW {
 public:
  using torch::optim::AdamW::AdamW;

  at::Tensor step(LossClosure closure = nullptr) override;  // as that of Adam
};

}  // namespace ddp::optim
