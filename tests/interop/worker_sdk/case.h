// A training of the parity test: words with + between them, the first of which names the model.
#pragma once

#include <torch/torch.h>

#include <set>
#include <sstream>
#include <string>

namespace ddp::test {

struct Case {
  explicit Case(const std::string& text) : name(text) {
    std::istringstream stream(text);
    for (std::string word; std::getline(stream, word, '+');) {
      if (words.empty()) model = word;
      words.insert(word);
    }
  }
  bool has(const std::string& word) const { return words.contains(word); }

  std::string name, model;
  std::set<std::string> words;
};

// What a rank trains on in one step.
struct Share {
  torch::Tensor images, labels;  // [8, 1, 28, 28], [8]
  bool use_extra = true;         // for models with a layer that not all forwards use
};

}  // namespace ddp::test
