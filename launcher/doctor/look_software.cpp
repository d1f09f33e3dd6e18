#include "launcher/doctor/look_software.h"

#include <dlfcn.h>
#include <gnu/libc-version.h>

#include <cctype>
#include <sstream>

#include "rendezvous/base/first_line.h"
#include "rendezvous/base/read_file.h"

namespace ddprun::doctor {
namespace {

// version.py of torch is read as text: it stands alone.
constexpr const char* kScript = R"(
import importlib.metadata, importlib.util, re
spec = importlib.util.find_spec("torch")
if spec and spec.origin:
    folder = spec.submodule_search_locations[0]
    print("folder", folder, sep="\t")
    text = open(folder + "/version.py").read()
    for name, key in ("version", "__version__"), ("cuda", "cuda"):
        found = re.search(key + r"(?:: [^=]*)? = '([^']*)'", text)
        if found:
            print(name, found[1], sep="\t")
for cuda in "14", "13", "12":
    try:
        print("nccl", importlib.metadata.version("nvidia-nccl-cu" + cuda), sep="\t")
        break
    except importlib.metadata.PackageNotFoundError:
        pass
)";

Torch libtorch_in(const std::string& folder) {
  const auto version = read_file(folder + "/build-version");
  return version ? Torch{.version = first_line(*version), .folder = folder} : Torch{};
}

std::string nccl_of_the_system() {
  void* library = ::dlopen("libnccl.so.2", RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) return "";
  const auto version = reinterpret_cast<int (*)(int*)>(::dlsym(library, "ncclGetVersion"));
  int number = 0;
  return version != nullptr && version(&number) == 0 ? nccl_version(number) : "";
}

}  // namespace

Question ask_torch(const std::string& path) {
  return Question::program({path, "-c", kScript});
}

Torch read_torch(std::string_view answer) {
  Torch torch;
  std::istringstream lines{std::string(answer)};
  for (std::string line; std::getline(lines, line);) {
    const std::size_t tab = line.find('\t');
    if (tab == std::string::npos) continue;
    const std::string name = line.substr(0, tab), value = line.substr(tab + 1);
    if (name == "version") torch.version = value;
    if (name == "cuda") torch.cuda = value;
    if (name == "nccl") torch.nccl = value;
    if (name == "folder") torch.folder = value;
  }
  return torch;
}

Torch libtorch_alone(const cli::Environment& environment) {
  if (const auto root = environment.get("Torch_ROOT"))
    if (Torch torch = libtorch_in(std::string(*root)); !torch.version.empty()) return torch;
  std::istringstream folders(std::string(environment.get("LD_LIBRARY_PATH").value_or("")));
  for (std::string folder; std::getline(folders, folder, ':');)
    if (Torch torch = libtorch_in(folder + "/.."); !torch.version.empty()) return torch;
  return {};
}

Question ask_nccl() {
  return Question(nccl_of_the_system);
}

std::string nccl_version(int number) {
  const int major = number < 10'000 ? number / 1'000 : number / 10'000;
  const int minor = number < 10'000 ? number / 100 % 10 : number / 100 % 100;
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(number % 100);
}

std::string driver_version(std::string_view text) {
  std::istringstream words{first_line(text)};
  for (std::string word; words >> word;)
    if (std::isdigit(static_cast<unsigned char>(word[0])) && word.find('.') != std::string::npos)
      return word;
  return "";
}

std::string libc() {
  return std::string("glibc ") + ::gnu_get_libc_version();
}

}  // namespace ddprun::doctor
