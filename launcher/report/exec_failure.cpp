#include "launcher/report/exec_failure.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cctype>
#include <cerrno>
#include <cstring>

#include "launcher/process/exit_codes.h"
#include "launcher/report/printable.h"
#include "rendezvous/base/first_line.h"
#include "rendezvous/base/unique_fd.h"

namespace ddprun::report {
namespace {

constexpr std::size_t kHead = 4096;

#if defined(__x86_64__)
constexpr int kThisMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr int kThisMachine = EM_AARCH64;
#else
constexpr int kThisMachine = EM_NONE;  // unknown: no claim is made about foreign files
#endif

std::string machine_name(int machine) {
  switch (machine) {
    case EM_386:
      return "i386";
    case EM_X86_64:
      return "x86_64";
    case EM_ARM:
      return "arm";
    case EM_AARCH64:
      return "aarch64";
    case EM_PPC64:
      return "ppc64";
    case EM_RISCV:
      return "riscv";
    case EM_S390:
      return "s390";
    default:
      return "machine " + std::to_string(machine);
  }
}

std::string system_text(int error) {
  std::string text = std::strerror(error);
  text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  return text;
}

bool is_elf(std::string_view head) {
  return head.starts_with(
      "\x7f"
      "ELF");
}

template <class T>
bool copy_at(std::string_view head, std::size_t offset, T& value) {
  if (offset > head.size() || head.size() - offset < sizeof value) return false;
  std::memcpy(&value, head.data() + offset, sizeof value);
  return true;
}

std::string elf_loader(std::string_view head) {
  Elf64_Ehdr header{};
  if (!copy_at(head, 0, header) || header.e_ident[EI_CLASS] != ELFCLASS64) return {};
  for (int i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment{};
    if (!copy_at(head, header.e_phoff + static_cast<std::size_t>(i) * sizeof segment, segment))
      return {};
    if (segment.p_type != PT_INTERP || segment.p_offset >= head.size()) continue;
    const std::string_view path = head.substr(segment.p_offset, segment.p_filesz);
    return std::string(path.substr(0, path.find('\0')));
  }
  return {};
}

std::string explain_missing(std::string_view program, const ProgramTraits& file) {
  if (program.empty()) return "the name is empty";
  if (program.find('/') != program.npos) return system_text(ENOENT);
  const std::string text = "not found in PATH";
  return file.exists_here
             ? text + "; to start the one in this directory write './" + std::string(program) + "'"
             : text;
}

std::string explain_loader(const ProgramTraits& file) {
  const std::string loader = loader_of(file.head);
  if (is_elf(file.head)) {
    return "its dynamic loader " + (loader.empty() ? "" : "'" + printable(loader) + "' ") +
           "does not exist";
  }
  if (loader.empty()) return system_text(ENOENT);
  if (loader.ends_with('\r')) return "its '#!' line ends with a carriage return (DOS line ends)";
  return "its interpreter '" + printable(loader) + "' (from its '#!' line) does not exist";
}

std::string explain_format(const ProgramTraits& file) {
  if (!file.readable) return system_text(ENOEXEC);
  if (file.head.empty()) return "the file is empty";
  if (is_elf(file.head)) {
    std::uint16_t machine = 0;
    const bool known = copy_at(file.head, offsetof(Elf64_Ehdr, e_machine), machine);
    if (known && kThisMachine != EM_NONE && machine != kThisMachine) {
      return "it is built for " + machine_name(machine) + ", this machine is " +
             machine_name(kThisMachine);
    }
    return "it is an ELF file that cannot be executed (damaged, or an object file or a library)";
  }
  if (file.head.starts_with("#!")) return "its '#!' line names no interpreter that can be executed";
  if (file.head.find('\0') == std::string::npos) {
    return "it is a text file without a '#!' line; add one, or name its interpreter in front of it";
  }
  return "it is in no format that this machine can execute";
}

std::string explain_refusal(const ProgramTraits& file) {
  if (file.kind == ProgramTraits::Kind::directory) return "it is a directory";
  if (file.kind == ProgramTraits::Kind::other) return "it is not a regular file";
  if (file.kind == ProgramTraits::Kind::missing) return system_text(EACCES);
  if (!file.executable) return "permission denied, it is not executable (chmod +x makes it so)";
  const std::string loader = loader_of(file.head);
  if (!loader.empty())
    return "permission denied, by itself or by its interpreter '" + printable(loader) + "'";
  return system_text(EACCES);
}

std::string explain(std::string_view program, int error, const ProgramTraits& file) {
  switch (error) {
    case ENOENT:
      return file.kind == ProgramTraits::Kind::missing ? explain_missing(program, file)
                                                       : explain_loader(file);
    case ENOTDIR:
      return "a part of its path is not a directory";
    case ENOEXEC:
      return explain_format(file);
    case EACCES:
      return explain_refusal(file);
    case E2BIG:
      return "its arguments and environment are too long";
    case ETXTBSY:
      return "somebody is writing to it";
    default:
      return system_text(error);
  }
}

}  // namespace

int exec_failure_code(int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return process::kExitNotFound;
    case EAGAIN:
    case ENOMEM:
    case EMFILE:
    case ENFILE:
      return process::kExitCannotWork;
    default:
      return process::kExitNotExecutable;
  }
}

std::string loader_of(std::string_view head) {
  if (is_elf(head)) return elf_loader(head);
  if (!head.starts_with("#!")) return {};
  const std::string first = first_line(head);
  std::string_view line = std::string_view(first).substr(2);
  while (line.starts_with(' ') || line.starts_with('\t')) line.remove_prefix(1);
  return std::string(line.substr(0, line.find_first_of(" \t")));
}

ExecFailure explain_exec_failure(std::string_view program, int error, const ProgramTraits& file,
                                 std::string_view origin) {
  ExecFailure failure;
  const bool found = file.kind != ProgramTraits::Kind::missing;
  failure.code = error == ENOENT && found ? process::kExitNotExecutable : exec_failure_code(error);
  failure.text = "cannot start '" + printable(program) + "'" +
                 (origin.empty() ? "" : " (from " + std::string(origin) + ")") + ": " +
                 explain(program, error, file);
  return failure;
}

ProgramTraits look_at_program(const std::string& program, const std::string& path) {
  ProgramTraits file;
  struct stat status {};
  file.exists_here =
      program.find('/') == std::string::npos && ::stat(program.c_str(), &status) == 0;
  if (path.empty() || ::stat(path.c_str(), &status) != 0) return file;
  file.kind = S_ISDIR(status.st_mode)   ? ProgramTraits::Kind::directory
              : S_ISREG(status.st_mode) ? ProgramTraits::Kind::regular
                                        : ProgramTraits::Kind::other;
  if (file.kind != ProgramTraits::Kind::regular) return file;
  file.executable = ::access(path.c_str(), X_OK) == 0;
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, kHead> head;
  const ssize_t n = fd ? ::read(fd.get(), head.data(), head.size()) : -1;
  file.readable = n >= 0;
  if (n > 0) file.head.assign(head.data(), static_cast<std::size_t>(n));
  return file;
}

}  // namespace ddprun::report
