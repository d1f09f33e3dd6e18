// Checkpoints that Python reads, and Python's checkpoints.
//
//   ddp::save_on_rank0("model.pt", ddp::Dict{{"model", ddp::state_dict(model)},
//                                            {"optimizer", ddp::optimizer_state(optimizer)},
//                                            {"epoch", epoch}});
//
//   const auto checkpoint = ddp::load_on_all("model.pt");
//   ddp::load_state_dict(model, checkpoint["model"].dict());
//   ddp::load_optimizer_state(optimizer, checkpoint["optimizer"].dict());
//   epoch = checkpoint["epoch"].to_int();
//
// Files are those of torch.save: torch.load(path, weights_only=True) reads ours, and these
// functions read what torch.save(model.state_dict()) and the like write. Nothing in a file is ever
// executed: a pickle that names anything else than weights need is refused.
//
// Errors are ddp::Error: the path, what was expected and what was found. A load that fails changes
// nothing, a save that fails leaves the old file as it was. Saving is safe against a crash and a
// full disk: the file is written beside its place, brought to the disk, then renamed.
#pragma once

#include <c10/core/Device.h>
#include <torch/nn/module.h>
#include <torch/optim/optimizer.h>

#include <concepts>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ddp/export.h"
#include "ddp/process_group.h"
#include "ddp/value.h"

namespace ddp {

// Writes `value`, in general a Dict, for this process alone. Tensors that share memory share it in
// the file as well; the whole of a storage is written even if a tensor is a view of a part of it.
// Refused: sparse and quantized tensors, and texts that are not UTF-8.
// PyTorch: torch.save.
DDP_API void save(const std::string& path, const Value& value);

// Reads what save and torch.save write, with all tensors on `device`, wherever they were saved.
// Dicts and OrderedDicts become Dict, torch.Size a Tuple, torch.device and torch.dtype a text;
// attributes such as _metadata are left out. Only zip files, that is not those from before PyTorch
// 1.6 and no TorchScript archives. Takes the memory of the tensors once.
// PyTorch: torch.load(path, map_location=device, weights_only=True).
DDP_API Value load(const std::string& path, c10::Device device = c10::Device(c10::kCPU));

// save on rank 0 of the group only; all ranks of it must call it. Returns when the file is there.
// Throws on every rank, with the reason, if it could not be written. The value of the other ranks
// is not looked at, nor is their file system. On a rank outside the group it does nothing.
// PyTorch: if get_rank() == 0: torch.save(…), and a barrier.
DDP_API void save_on_rank0(const std::string& path, const Value& value,
                           const ProcessGroup& group = {});

// load on every rank of the group, each to its own device; all must call it. Throws on every rank
// if one could not read the file, and names those ranks and their reasons. None on a rank outside
// the group.
// PyTorch: torch.load(path, map_location=device, weights_only=True) on every rank.
DDP_API Value load_on_all(const std::string& path, const ProcessGroup& group = {});
DDP_API Value load_on_all(const std::string& path, c10::Device device,
                          const ProcessGroup& group = {});

// Overwrites parameters and buffers by those of the rank `src`, a global rank: for a module that
// one rank alone has loaded. DistributedDataParallel does it for its module when it is made.
// PyTorch: torch.distributed.broadcast of each of them.
DDP_API void broadcast_parameters(const torch::nn::Module& module, int src = 0,
                                  const ProcessGroup& group = {});

// Parameters and buffers by name, in Python's order, each detached and sharing the memory of the
// module's. `prefix`, such as "module.", is put before each name.
// PyTorch: Module.state_dict.
DDP_API Dict state_dict(const torch::nn::Module& module, const std::string& prefix = "");

// The names that did not meet their counterpart.
struct StateDictResult {
  std::vector<std::string> missing_keys;     // of the module, and not in the dict
  std::vector<std::string> unexpected_keys;  // of the dict, and not in the module
};

// Copies the tensors into the module's own. Names that all begin with "module.", as those of
// Python's DistributedDataParallel, are taken without it, unless the module's own do as well. With
// `strict` missing and unexpected names are errors. Throws ddp::Error that lists all of them and
// all tensors of other sizes; then nothing has been changed. PyTorch: Module.load_state_dict.
DDP_API StateDictResult load_state_dict(torch::nn::Module& module, const Dict& dict,
                                        bool strict = true);

// The state of SGD, Adam or AdamW in Python's layout: "state" by the index of the parameter, and
// "param_groups" with the learning rate and the other options of each. Adam's `step` becomes a
// tensor. With a module the groups hold "param_names" as well, as Python's do for an optimizer that
// was made of named parameters. Throws ddp::Error for other optimizers. Schedulers have no state in
// LibTorch: make them again from the epoch.
// PyTorch: Optimizer.state_dict.
DDP_API Dict optimizer_state(const torch::optim::Optimizer& optimizer);
DDP_API Dict optimizer_state(const torch::optim::Optimizer& optimizer,
                             const torch::nn::Module& module);

// Takes over state and options, by the index of the parameters, or by name if the file has names
// and a module is given. Throws ddp::Error that lists what does not fit: the kind of optimizer,
// the number of groups and parameters, sizes, options that LibTorch does not have (maximize). Then
// nothing has been changed.
// PyTorch: Optimizer.load_state_dict.
DDP_API void load_optimizer_state(torch::optim::Optimizer& optimizer, const Dict& dict);
DDP_API void load_optimizer_state(torch::optim::Optimizer& optimizer, const Dict& dict,
                                  const torch::nn::Module& module);

// Writes a file of safetensors: a flat Dict of tensors, keys are strings. Tensors are written
// contiguous, those that share memory each with a copy of its own. `metadata` is free text.
// Python: safetensors.torch.save_file.
DDP_API void save_safetensors(const std::string& path, const Dict& tensors,
                              const std::map<std::string, std::string>& metadata = {});

// Reads one. `metadata`, if not null, is overwritten by the file's.
// Python: safetensors.torch.load_file.
DDP_API Dict load_safetensors(const std::string& path, c10::Device device = c10::Device(c10::kCPU),
                              std::map<std::string, std::string>* metadata = nullptr);

// What holds a module: the holders of TORCH_MODULE and DistributedDataParallel.
template <class Holder>
concept ModuleHolder = requires(const Holder& holder) {
  { *holder.ptr() } -> std::convertible_to<torch::nn::Module&>;
};

// The functions above for them. The names are those of the inner module.
template <ModuleHolder Holder>
Dict state_dict(const Holder& holder, const std::string& prefix = "") {
  return state_dict(static_cast<const torch::nn::Module&>(*holder.ptr()), prefix);
}
template <ModuleHolder Holder>
StateDictResult load_state_dict(const Holder& holder, const Dict& dict, bool strict = true) {
  return load_state_dict(static_cast<torch::nn::Module&>(*holder.ptr()), dict, strict);
}
template <ModuleHolder Holder>
void broadcast_parameters(const Holder& holder, int src = 0, const ProcessGroup& group = {}) {
  broadcast_parameters(static_cast<const torch::nn::Module&>(*holder.ptr()), src, group);
}
template <ModuleHolder Holder>
Dict optimizer_state(const torch::optim::Optimizer& optimizer, const Holder& holder) {
  return optimizer_state(optimizer, static_cast<const torch::nn::Module&>(*holder.ptr()));
}
template <ModuleHolder Holder>
void load_optimizer_state(torch::optim::Optimizer& optimizer, const Dict& dict,
                          const Holder& holder) {
  load_optimizer_state(optimizer, dict, static_cast<const torch::nn::Module&>(*holder.ptr()));
}

}  // namespace ddp
