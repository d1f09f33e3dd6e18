#include "rendezvous/base/module.h"

#include <dlfcn.h>
#include <unistd.h>

#include <filesystem>
#include <system_error>

namespace ddprun {
namespace {

namespace fs = std::filesystem;

std::string linker_message() {
  const char* text = dlerror();
  return text == nullptr ? "no reason given" : text;
}

// Empty if it is nowhere; `looked_in` says where it could have been.
std::string beside_this_program(const std::string& file, std::string& looked_in) {
  std::error_code unknown;
  const fs::path folder = fs::read_symlink("/proc/self/exe", unknown).parent_path();
  if (folder.empty()) {  // what lies in the current folder may be anybody's
    looked_in = "no folder, for /proc does not say where this program is";
    return {};
  }
  for (const char* below : {".", "../lib", "../lib/ddprun", "../lib/rdzvd"}) {
    const fs::path path = (folder / below / file).lexically_normal();
    if (::access(path.c_str(), R_OK) == 0) return path;
    looked_in += (looked_in.empty() ? "" : ", ") + path.parent_path().string();
  }
  return {};
}

}  // namespace

void Module::Close::operator()(void* library) const {
  dlclose(library);
}

Result<Module> Module::open(const std::string& file, const std::string& given) {
  std::string looked_in;
  const std::string path = given.empty() ? beside_this_program(file, looked_in) : given;
  if (path.empty())
    return Error{"its module " + file + " is not installed (looked in " + looked_in + ")"};
  Module module(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL));
  if (!module.library_) return Error{"its module cannot be loaded: " + linker_message()};
  return module;
}

Result<void*> Module::find(const char* function) const {
  void* found = dlsym(library_.get(), function);
  if (found == nullptr) return Error{"its module is of another version: " + linker_message()};
  return found;
}

}  // namespace ddprun
