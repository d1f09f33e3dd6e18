#include "worker_sdk/src/checkpoint/safetensors.h"

#include <algorithm>
#include <set>

#include "worker_sdk/src/checkpoint/json_cursor.h"
#include "worker_sdk/src/checkpoint/little_endian.h"

namespace ddp::detail {
namespace {

// The limit of the format's own implementation.
constexpr std::uint64_t kLargestHeader = 100'000'000;
constexpr std::uint64_t kLengthSize = 8, kAlignment = 8;
constexpr const char* kMetadata = "__metadata__";

std::uint64_t header_size(ByteSource& source) {
  if (source.size() < kLengthSize) {
    throw BadFile("expected a safetensors file, and it has only " + std::to_string(source.size()) +
                  " bytes");
  }
  const auto size = little_endian<std::uint64_t>(source.text(0, kLengthSize, "its header"));
  if (size > kLargestHeader || size > source.size() - kLengthSize) {
    throw BadFile("expected a safetensors file, and the length of its header is " +
                  std::to_string(size) + " bytes, of a file of " + std::to_string(source.size()));
  }
  return size;
}

std::string what(const SafeTensor& tensor) {
  return "the tensor " + in_quotes(tensor.name);
}

// Bytes of the tensor. Throws if that is more than a number holds.
std::uint64_t byte_size(const SafeTensor& tensor) {
  std::uint64_t bytes = info(tensor.type).size;
  bool too_large = false;
  for (const std::int64_t size : tensor.sizes) {
    too_large = too_large ||
                __builtin_mul_overflow(bytes, static_cast<std::uint64_t>(size), &bytes) ||
                bytes > 0x7fffffffffffffffu;
  }
  if (too_large) throw BadFile(what(tensor) + " is too large for any memory");
  return bytes;
}

void read_offsets(JsonCursor& json, SafeTensor& tensor) {
  std::vector<std::uint64_t> offsets;
  json.array([&] { offsets.push_back(static_cast<std::uint64_t>(json.integer())); });
  if (offsets.size() != 2 || offsets[0] > offsets[1]) {
    throw BadFile("data_offsets of " + what(tensor) + ": expected a begin and an end behind it");
  }
  tensor.begin = offsets[0];
  tensor.end = offsets[1];
}

void read_type(JsonCursor& json, SafeTensor& tensor) {
  const std::string name = json.string();
  const DTypeInfo* type = find_dtype(&DTypeInfo::safetensors, name);
  if (type == nullptr) throw BadFile(what(tensor) + " has the unknown type " + in_quotes(name));
  tensor.type = type->type;
}

SafeTensor read_tensor(JsonCursor& json, const std::string& name) {
  constexpr std::size_t kMostDimensions = 64;
  SafeTensor tensor;
  tensor.name = name;
  int members = 0;
  json.object([&](const std::string& key) {
    ++members;
    if (key == "dtype") return read_type(json, tensor);
    if (key == "data_offsets") return read_offsets(json, tensor);
    if (key != "shape") throw BadFile(what(tensor) + " has the unknown member " + in_quotes(key));
    json.array([&] {
      tensor.sizes.push_back(json.integer());
      if (tensor.sizes.size() > kMostDimensions) {
        throw BadFile(what(tensor) + " has more than 64 dimensions");
      }
    });
  });
  if (members != 3) throw BadFile(what(tensor) + ": expected dtype, shape and data_offsets");
  return tensor;
}

void check_layout(const std::vector<SafeTensor>& tensors, std::uint64_t bytes) {
  std::uint64_t at = 0;
  for (const SafeTensor& tensor : tensors) {
    if (tensor.begin != at) {
      throw BadFile(what(tensor) + " begins at byte " + std::to_string(tensor.begin) + " of the " +
                    "data, expected at " + std::to_string(at) + ", where the one before it ends");
    }
    if (tensor.end - tensor.begin != byte_size(tensor)) {
      throw BadFile(what(tensor) + " has " + std::to_string(tensor.end - tensor.begin) +
                    " bytes, expected " + std::to_string(byte_size(tensor)) +
                    " from its type and shape");
    }
    at = tensor.end;
  }
  if (at == bytes) return;
  throw BadFile(std::string(at > bytes ? "it is cut" : "bytes follow the last tensor") +
                ": expected " + std::to_string(at) + " bytes of data, found " +
                std::to_string(bytes));
}

}  // namespace

SafetensorsHeader read_safetensors_header(ByteSource& source) {
  const std::uint64_t size = header_size(source);
  const std::string text = source.text(kLengthSize, size, "its header");
  SafetensorsHeader header;
  header.data = kLengthSize + size;
  JsonCursor json(text);
  json.object([&](const std::string& key) {
    if (key != kMetadata) return header.tensors.push_back(read_tensor(json, key));
    json.object([&](const std::string& name) { header.metadata[name] = json.string(); });
  });
  json.end();
  std::stable_sort(header.tensors.begin(), header.tensors.end(),
                   [](const SafeTensor& a, const SafeTensor& b) {
                     return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
                   });
  check_layout(header.tensors, source.size() - header.data);
  return header;
}

std::string write_safetensors_header(std::vector<SafeTensor>& tensors,
                                     const std::map<std::string, std::string>& metadata) {
  const auto text = [](const std::string& name) {
    if (!is_utf8(name)) throw BadFile("the text " + in_quotes(name) + " is not UTF-8");
    return json_string(name);
  };
  std::string json = "{";
  std::set<std::string> names{kMetadata};
  std::string members;
  for (const auto& [key, value] : metadata) {
    members += (members.empty() ? "" : ",") + text(key) + ":" + text(value);
  }
  if (!members.empty()) json += text(kMetadata) + ":{" + members + "}";
  std::uint64_t at = 0;
  for (SafeTensor& tensor : tensors) {
    const DTypeInfo& type = info(tensor.type);
    if (!names.insert(tensor.name).second) throw BadFile(what(tensor) + " comes twice");
    if (type.safetensors.empty()) {
      throw BadFile(what(tensor) + " is of the type " + std::string(type.name) +
                    ", which safetensors does not have");
    }
    tensor.begin = at;
    tensor.end = at += byte_size(tensor);
    std::string shape;
    for (const auto size : tensor.sizes) shape += (shape.empty() ? "" : ",") + std::to_string(size);
    json += (json.size() > 1 ? "," : "") + text(tensor.name) + ":{\"dtype\":\"" +
            std::string(type.safetensors) + "\",\"shape\":[" + shape + "],\"data_offsets\":[" +
            std::to_string(tensor.begin) + "," + std::to_string(tensor.end) + "]}";
  }
  json += "}";
  json.resize((json.size() + kAlignment - 1) / kAlignment * kAlignment, ' ');
  return to_little_endian(std::uint64_t{json.size()}) + json;
}

}  // namespace ddp::detail
