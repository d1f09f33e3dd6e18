#include "worker_sdk/src/cuda_plugin.h"

#include <ATen/Context.h>
#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <stdexcept>
#include <vector>

#include "worker_sdk/src/missing_libraries.h"
#include "worker_sdk/src/nccl_plugin.h"

namespace ddp::detail {
namespace {

struct Plugin {
  std::string why_not;  // empty if it can be used
  decltype(&ddp_nccl_make_backend) make_backend = nullptr;
  decltype(&ddp_nccl_shut_down) shut_down = nullptr;
};

// The file that the code or data at `address` was loaded from.
std::filesystem::path file_of(const void* address) {
  Dl_info info{};
  dladdr(address, &info);
  return info.dli_fname;
}

// libddp_nccl.so lies where this very library does.
std::string plugin_path() {
  return file_of(reinterpret_cast<const void*>(&load_cuda)).replace_filename("libddp_nccl.so");
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

// `reason` is the loader's, which names only the first library that it did not find.
std::string why_not_loaded(const std::string& plugin, const std::string& reason) {
  const auto libtorch = file_of(reinterpret_cast<const void*>(&at::globalContext));
  std::vector<std::string> missing;
  for (const std::string& file : {plugin, libtorch.parent_path().string() + "/libtorch_cuda.so"}) {
    for (const std::string& name : missing_libraries(file)) {
      if (std::find(missing.begin(), missing.end(), name) == missing.end()) missing.push_back(name);
    }
  }
  if (missing.empty()) return "the CUDA libraries could not be loaded: " + reason;
  return "the CUDA libraries could not be loaded, for " + joined(missing) +
         " cannot be found. They come with torch's own dependencies, which pip install --no-deps "
         "leaves out: install torch with them, or name their folders in LD_LIBRARY_PATH";
}

// "2.28.9" for 22809.
std::string nccl_version(int code) {
  return std::to_string(code / 10000) + "." + std::to_string(code / 100 % 100) + "." +
         std::to_string(code % 100);
}

template <class Function>
Function entry(void* library, const char* name) {
  return reinterpret_cast<Function>(dlsym(library, name));
}

// LibTorch asks once whether there is CUDA, and stays with the answer.
std::string why_no_cuda(void* library) {
  std::array<char, 1024> reason{};
  const auto count = entry<decltype(&ddp_cuda_device_count)>(library, "ddp_cuda_device_count");
  if (count(reason.data(), reason.size()) == 0) {
    const int shown = visible_gpu_count();
    return "the driver shows " + std::to_string(shown) + (shown == 1 ? " GPU" : " GPUs") +
           ", but CUDA can use none of them: " + reason.data();
  }
  return "LibTorch was used before CUDA was loaded: call ddp::init_process_group() or "
         "ddp::local_device() first in main";
}

// An options struct of NCCL's header is filled in by us and read by libtorch_cuda.
std::string why_not_this_nccl(void* library) {
  const int built = entry<decltype(&ddp_nccl_header_version)>(library, "ddp_nccl_header_version")();
  const int loaded =
      entry<decltype(&ddp_nccl_loaded_version)>(library, "ddp_nccl_loaded_version")();
  if (built == loaded) return {};
  return "libddp_nccl.so was built with the header of NCCL " + nccl_version(built) +
         " but LibTorch uses NCCL " + nccl_version(loaded) + ": build it with that header";
}

Plugin load_plugin() {
  const std::string path = plugin_path();
  if (!std::filesystem::exists(path)) {
    return {"this ddp was built without CUDA: there is no " + path +
            ". Build it where nccl.h, the CUDA headers and a CUDA LibTorch are found"};
  }
  // Global, so that libtorch_cuda registers itself as if the program had been linked with it.
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (!library) return {why_not_loaded(path, dlerror())};
  if (!at::hasCUDA()) return {why_no_cuda(library)};
  if (const std::string why_not = why_not_this_nccl(library); !why_not.empty()) return {why_not};
  return {{},
          entry<decltype(&ddp_nccl_make_backend)>(library, "ddp_nccl_make_backend"),
          entry<decltype(&ddp_nccl_shut_down)>(library, "ddp_nccl_shut_down")};
}

const Plugin& plugin() {
  static const Plugin loaded = load_plugin();
  return loaded;
}

}  // namespace

std::string load_cuda() {
  return plugin().why_not;
}

UsableGpus usable_gpus() {
  const int count = visible_gpu_count();
  if (count == 0) return {};
  const std::string why_not = load_cuda();
  return {why_not.empty() ? count : 0, why_not};
}

c10::intrusive_ptr<c10d::Backend> make_nccl_backend(const c10::intrusive_ptr<c10d::Store>& store,
                                                    int rank, int size,
                                                    const std::optional<c10::Device>& device_id,
                                                    std::chrono::milliseconds timeout,
                                                    const std::string& group_name) {
  if (const std::string why_not = load_cuda(); !why_not.empty()) throw std::runtime_error(why_not);
  std::array<char, 4096> reason{};
  c10d::Backend* backend =
      plugin().make_backend(store.get(), rank, size, device_id ? device_id->index() : -1,
                            timeout.count(), group_name.c_str(), reason.data(), reason.size());
  if (!backend) throw std::runtime_error(reason.data());
  return c10::intrusive_ptr<c10d::Backend>::reclaim(backend);
}

void shut_down_nccl_backend(const c10::intrusive_ptr<c10d::Backend>& backend) {
  plugin().shut_down(backend.get());
}

}  // namespace ddp::detail
