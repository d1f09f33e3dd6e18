#include "worker_sdk/src/missing_libraries.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <span>
#include <sstream>

namespace ddp::detail {
namespace {

// Mapped, not read: libtorch_cuda has hundreds of megabytes.
class MappedFile {
 public:
  explicit MappedFile(const std::string& path) {
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat info {};
    if (fd >= 0 && fstat(fd, &info) == 0 && info.st_size > 0) {
      void* start =
          mmap(nullptr, static_cast<std::size_t>(info.st_size), PROT_READ, MAP_PRIVATE, fd, 0);
      if (start != MAP_FAILED) {
        bytes_ = {static_cast<const char*>(start), static_cast<std::size_t>(info.st_size)};
      }
    }
    if (fd >= 0) close(fd);
  }
  ~MappedFile() {
    if (!bytes_.empty()) munmap(const_cast<char*>(bytes_.data()), bytes_.size());
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  // `count` of them at `offset`; none if the file is shorter than that.
  template <class Entry>
  std::span<const Entry> at(std::size_t offset, std::size_t count) const {
    if (offset > bytes_.size() || count > (bytes_.size() - offset) / sizeof(Entry)) return {};
    return {reinterpret_cast<const Entry*>(bytes_.data() + offset), count};
  }
  std::string text_at(std::size_t offset) const {
    if (offset >= bytes_.size()) return {};
    return std::string(bytes_.data() + offset,
                       strnlen(bytes_.data() + offset, bytes_.size() - offset));
  }

 private:
  std::span<const char> bytes_;
};

struct Needs {
  std::vector<std::string> names;
  std::string search_path;  // RUNPATH or RPATH, as the file has it
};

std::size_t file_offset(std::span<const Elf64_Phdr> segments, std::size_t address) {
  for (const Elf64_Phdr& each : segments) {
    if (each.p_type == PT_LOAD && address >= each.p_vaddr &&
        address - each.p_vaddr < each.p_filesz) {
      return address - each.p_vaddr + each.p_offset;
    }
  }
  return static_cast<std::size_t>(-1);
}

Needs needs_of(const std::string& path) {
  const MappedFile file(path);
  const auto header = file.at<Elf64_Ehdr>(0, 1);
  if (header.empty() || std::memcmp(header[0].e_ident, ELFMAG, SELFMAG) != 0) return {};
  const auto segments = file.at<Elf64_Phdr>(header[0].e_phoff, header[0].e_phnum);
  std::span<const Elf64_Dyn> entries;
  for (const Elf64_Phdr& each : segments) {
    if (each.p_type == PT_DYNAMIC) {
      entries = file.at<Elf64_Dyn>(each.p_offset, each.p_filesz / sizeof(Elf64_Dyn));
    }
  }
  std::size_t strings = 0;
  for (const Elf64_Dyn& each : entries) {
    if (each.d_tag == DT_STRTAB) strings = file_offset(segments, each.d_un.d_ptr);
  }
  Needs needs;
  for (const Elf64_Dyn& each : entries) {
    if (each.d_tag == DT_NULL) break;
    if (each.d_tag == DT_NEEDED) needs.names.push_back(file.text_at(strings + each.d_un.d_val));
    if (each.d_tag == DT_RUNPATH || each.d_tag == DT_RPATH) {
      needs.search_path = file.text_at(strings + each.d_un.d_val);
    }
  }
  return needs;
}

bool in_search_path(const std::string& name, const Needs& needs, const std::string& origin) {
  std::istringstream folders(needs.search_path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const auto dollar = folder.find("$ORIGIN");
    if (dollar != std::string::npos) folder.replace(dollar, std::strlen("$ORIGIN"), origin);
    if (!folder.empty() && std::filesystem::exists(std::filesystem::path(folder) / name)) {
      return true;
    }
  }
  return false;
}

bool loader_finds(const std::string& name) {
  void* library = dlopen(name.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (library) dlclose(library);
  return library != nullptr;
}

}  // namespace

std::vector<std::string> missing_libraries(const std::string& file) {
  const Needs needs = needs_of(file);
  const std::string origin = std::filesystem::path(file).parent_path();
  std::vector<std::string> missing;
  for (const std::string& name : needs.names) {
    if (!in_search_path(name, needs, origin) && !loader_finds(name)) missing.push_back(name);
  }
  return missing;
}

}  // namespace ddp::detail
