#include "ddp/checkpoint.h"

#include <ATen/Functions.h>

#include <algorithm>

#include "worker_sdk/src/checkpoint/safetensors.h"
#include "worker_sdk/src/checkpoint_file.h"
#include "worker_sdk/src/tensor_types.h"
#include "worker_sdk/src/usable_device.h"
#include "worker_sdk/src/value_graph.h"

namespace ddp {

using detail::BadFile;
using detail::in_quotes;

void save(const std::string& path, const Value& value) {
  detail::write_file("save", path, [&](detail::ByteSink& sink) {
    const detail::TakenApart parts = detail::take_apart(value);
    at::Tensor bytes;  // of the storage that is being written
    detail::write_archive(sink, parts.graph, parts.storages.size(), [&](std::size_t i) {
      bytes = detail::storage_on_cpu(parts.storages[i]);
      return detail::StorageBytes{bytes.data_ptr(), parts.sizes[i]};
    });
  });
}

Value load(const std::string& path, c10::Device device) {
  detail::require_usable(device, "load");
  Value value;
  detail::read_file("load", path, [&](detail::ByteSource& source) {
    value = detail::put_together(detail::ArchiveReader(source), device);
  });
  return value;
}

namespace {

struct Named {
  detail::SafeTensor form;
  at::Tensor tensor;
};

Named named_tensor(const Key& key, const Value& value) {
  if (!key.is_string()) throw BadFile("the key " + key.repr() + " is no string");
  if (!value.is_tensor() || !value.tensor().defined() || value.tensor().layout() != c10::kStrided ||
      value.tensor().is_quantized()) {
    throw BadFile(key.repr() + " is a " + value.type_name() +
                  ", expected a dense tensor: safetensors holds nothing else");
  }
  const auto type = detail::to_dtype(value.tensor().scalar_type());
  if (!type) throw BadFile(key.repr() + " has a type that safetensors does not have");
  Named named;
  named.form = {.name = key.str(), .type = *type, .sizes = value.tensor().sizes().vec()};
  named.tensor = value.tensor().detach();
  return named;
}

std::vector<std::int64_t> contiguous_strides(const std::vector<std::int64_t>& sizes) {
  std::vector<std::int64_t> strides(sizes.size(), 1);
  for (std::size_t i = sizes.size(); i-- > 1;) {
    strides[i - 1] = strides[i] * std::max<std::int64_t>(sizes[i], 1);
  }
  return strides;
}

at::Tensor read_tensor(detail::ByteSource& source, std::uint64_t data,
                       const detail::SafeTensor& form, c10::Device device) {
  const at::Tensor bytes = at::empty({static_cast<std::int64_t>(form.end - form.begin)}, at::kByte);
  source.read(data + form.begin, bytes.data_ptr(), form.end - form.begin);
  if (form.type == detail::DType::Bool) detail::make_bools(bytes);
  return detail::tensor_over(bytes.to(device), form.type, 0, form.sizes,
                             contiguous_strides(form.sizes));
}

}  // namespace

void save_safetensors(const std::string& path, const Dict& tensors,
                      const std::map<std::string, std::string>& metadata) {
  detail::write_file("save_safetensors", path, [&](detail::ByteSink& sink) {
    std::vector<Named> all;
    for (const auto& [key, value] : tensors) all.push_back(named_tensor(key, value));
    // So that every tensor is aligned to the size of its elements.
    std::stable_sort(all.begin(), all.end(), [](const Named& a, const Named& b) {
      return detail::info(a.form.type).size > detail::info(b.form.type).size;
    });
    std::vector<detail::SafeTensor> forms;
    for (const Named& each : all) forms.push_back(each.form);
    sink.write(detail::write_safetensors_header(forms, metadata));
    for (std::size_t i = 0; i < all.size(); ++i) {
      const at::Tensor plain = all[i].tensor.resolve_conj().resolve_neg().cpu().contiguous();
      sink.write(plain.data_ptr(), forms[i].end - forms[i].begin);
    }
  });
}

Dict load_safetensors(const std::string& path, c10::Device device,
                      std::map<std::string, std::string>* metadata) {
  detail::require_usable(device, "load_safetensors");
  Dict dict;
  detail::read_file("load_safetensors", path, [&](detail::ByteSource& source) {
    const detail::SafetensorsHeader header = detail::read_safetensors_header(source);
    for (const detail::SafeTensor& form : header.tensors) {
      dict[form.name] = read_tensor(source, header.data, form, device);
    }
    if (metadata != nullptr) *metadata = header.metadata;
  });
  return dict;
}

}  // namespace ddp
