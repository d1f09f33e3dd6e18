// Finds the tensors in what a module's forward returns.
//
// Known are Tensor, and pair, tuple, optional, vector, array and map of anything known. For a type
// of your own, write beside it  std::vector<at::Tensor*> ddp_tensors(YourType&)  that lists its
// tensors.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <concepts>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ddp::detail {

// Appends the address of every tensor in the value; undefined tensors as well.
template <class T>
struct OutputTensors {
  static constexpr bool known = false;
};

template <class T>
concept HoldsTensors = OutputTensors<T>::known;

template <>
struct OutputTensors<at::Tensor> {
  static constexpr bool known = true;
  static void append(at::Tensor& value, std::vector<at::Tensor*>& to) { to.push_back(&value); }
};

template <class T>
  requires requires(T& value) {
    { ddp_tensors(value) } -> std::same_as<std::vector<at::Tensor*>>;
  }
struct OutputTensors<T> {
  static constexpr bool known = true;
  static void append(T& value, std::vector<at::Tensor*>& to) {
    for (at::Tensor* tensor : ddp_tensors(value)) to.push_back(tensor);
  }
};

template <HoldsTensors T>
struct OutputTensors<std::optional<T>> {
  static constexpr bool known = true;
  static void append(std::optional<T>& value, std::vector<at::Tensor*>& to) {
    if (value) OutputTensors<T>::append(*value, to);
  }
};

template <HoldsTensors... T>
struct OutputTensors<std::tuple<T...>> {
  static constexpr bool known = true;
  static void append(std::tuple<T...>& value, std::vector<at::Tensor*>& to) {
    std::apply([&to](T&... each) { (OutputTensors<T>::append(each, to), ...); }, value);
  }
};

template <HoldsTensors First, HoldsTensors Second>
struct OutputTensors<std::pair<First, Second>> {
  static constexpr bool known = true;
  static void append(std::pair<First, Second>& value, std::vector<at::Tensor*>& to) {
    OutputTensors<First>::append(value.first, to);
    OutputTensors<Second>::append(value.second, to);
  }
};

// A sequence of T.
template <class Sequence, HoldsTensors T>
struct SequenceTensors {
  static constexpr bool known = true;
  static void append(Sequence& value, std::vector<at::Tensor*>& to) {
    for (T& each : value) OutputTensors<T>::append(each, to);
  }
};

template <HoldsTensors T>
struct OutputTensors<std::vector<T>> : SequenceTensors<std::vector<T>, T> {};
template <HoldsTensors T, std::size_t N>
struct OutputTensors<std::array<T, N>> : SequenceTensors<std::array<T, N>, T> {};

// A map from anything to T.
template <class Map, HoldsTensors T>
struct MapTensors {
  static constexpr bool known = true;
  static void append(Map& value, std::vector<at::Tensor*>& to) {
    for (auto& [key, each] : value) OutputTensors<T>::append(each, to);
  }
};

template <class Key, HoldsTensors T>
struct OutputTensors<std::map<Key, T>> : MapTensors<std::map<Key, T>, T> {};
template <class Key, HoldsTensors T>
struct OutputTensors<std::unordered_map<Key, T>> : MapTensors<std::unordered_map<Key, T>, T> {};

}  // namespace ddp::detail
