// The environment a process was started with, as a plain value: what tests can make up and what the
// workers inherit.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ddprun::cli {

// Entries are kept as they came: their order, a name that is there twice, and entries without a
// `=`.
class Environment {
 public:
  Environment() = default;

  // From a null-terminated array such as `environ`; copies the text. `entries` may be null: empty.
  explicit Environment(char** entries);

  // From "NAME=value" texts.
  explicit Environment(std::vector<std::string> entries) : entries_(std::move(entries)) {}

  // The value of `name`, or none. A name that is there twice has its first value, as with getenv.
  // The view lives as long as this object.
  std::optional<std::string_view> get(std::string_view name) const;

  // All entries in their order.
  const std::vector<std::string>& entries() const { return entries_; }

 private:
  std::vector<std::string> entries_;
};

// The part of "NAME=value" before the `=`; the whole text where there is none.
std::string_view variable_name(std::string_view entry);

}  // namespace ddprun::cli
