// How a collective combines the tensors of the ranks.
#pragma once

namespace ddp {

// AVG needs a floating type; BAND, BOR and BXOR need integers or bool. PREMUL_SUM, the sum of
// tensors that are multiplied by a factor first, exists with NCCL only and is written
// ReduceOp::premul_sum(factor).
// PyTorch: torch.distributed.ReduceOp.
class ReduceOp {
 public:
  // The operations, with PyTorch's names.
  enum Kind { SUM, AVG, PRODUCT, MIN, MAX, BAND, BOR, BXOR, PREMUL_SUM };

  // Implicit: all_reduce(tensor, ReduceOp::MAX).
  constexpr ReduceOp(Kind kind) : kind_(kind) {}

  // PyTorch: torch.distributed._make_nccl_premul_sum.
  static constexpr ReduceOp premul_sum(double factor) {
    ReduceOp op(PREMUL_SUM);
    op.factor_ = factor;
    return op;
  }

  // Which operation, and the factor of PREMUL_SUM (1 for the others).
  constexpr Kind kind() const { return kind_; }
  constexpr double factor() const { return factor_; }

 private:
  Kind kind_;
  double factor_ = 1;
};

}  // namespace ddp
