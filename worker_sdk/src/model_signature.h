// Compares the models of all ranks by text, before anything is sent between them: Gloo itself does
// not notice tensors of different shapes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ddp::detail {

// One parameter or buffer: its name, and its type and shape such as "Float [10, 84]", with strides
// where they matter.
struct TensorSignature {
  std::string name;
  std::string form;
};

// A number that differs (as good as surely) if the forms or their order differ; names do not count.
std::int64_t fingerprint(const std::vector<TensorSignature>& tensors);

// One line for each tensor, to be sent to the other ranks.
std::string encode(const std::vector<TensorSignature>& tensors);

// The first difference between the encoded models, as a sentence that names both ranks, or nothing
// if all forms agree. Element i of both lists belongs to the same rank.
std::optional<std::string> first_difference(const std::vector<std::string>& encoded_by_rank,
                                            const std::vector<int>& ranks);

}  // namespace ddp::detail
