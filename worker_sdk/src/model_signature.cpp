#include "worker_sdk/src/model_signature.h"

#include <algorithm>
#include <sstream>

namespace ddp::detail {
namespace {

// The name cannot contain it.
constexpr char kBetween = '\t';

std::vector<TensorSignature> decode(const std::string& encoded) {
  std::vector<TensorSignature> tensors;
  std::istringstream lines(encoded);
  for (std::string line; std::getline(lines, line);) {
    const auto tab = line.find(kBetween);
    tensors.push_back({line.substr(0, tab), line.substr(tab + 1)});
  }
  return tensors;
}

std::string of_rank(int rank, const TensorSignature& tensor) {
  return tensor.name + " is " + tensor.form + " on rank " + std::to_string(rank);
}

}  // namespace

std::int64_t fingerprint(const std::vector<TensorSignature>& tensors) {
  std::uint64_t hash = 14695981039346656037u;  // FNV-1a
  for (const TensorSignature& tensor : tensors) {
    for (const char c : tensor.form + '\n')
      hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  }
  return static_cast<std::int64_t>(hash);
}

std::string encode(const std::vector<TensorSignature>& tensors) {
  std::string text;
  for (const TensorSignature& tensor : tensors) text += tensor.name + kBetween + tensor.form + '\n';
  return text;
}

std::optional<std::string> first_difference(const std::vector<std::string>& encoded_by_rank,
                                            const std::vector<int>& ranks) {
  const std::vector<TensorSignature> first = decode(encoded_by_rank.at(0));
  for (std::size_t member = 1; member < encoded_by_rank.size(); ++member) {
    const std::vector<TensorSignature> other = decode(encoded_by_rank[member]);
    for (std::size_t i = 0; i < std::min(first.size(), other.size()); ++i) {
      if (first[i].form == other[i].form) continue;
      return of_rank(ranks[0], first[i]) + " but " + of_rank(ranks[member], other[i]);
    }
    if (first.size() != other.size()) {
      return "rank " + std::to_string(ranks[0]) + " has " + std::to_string(first.size()) +
             " parameters and buffers but rank " + std::to_string(ranks[member]) + " has " +
             std::to_string(other.size());
    }
  }
  return std::nullopt;
}

}  // namespace ddp::detail
