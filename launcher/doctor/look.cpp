#include "launcher/doctor/look.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "launcher/cli/version.h"
#include "launcher/placement/cpu_list.h"
#include "launcher/placement/machine.h"
#include "launcher/plan/node.h"
#include "launcher/process/program.h"
#include "launcher/report/out_of_memory.h"
#include "rendezvous/base/read_file.h"
#include "rendezvous/base/unique_fd.h"

namespace ddprun::doctor {
namespace {

std::string kernel() {
  utsname name{};
  ::uname(&name);
  return std::string(name.sysname) + " " + name.release + " " + name.machine;
}

std::string host_name() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 ? name : "localhost";
}

// The lowest one that holds.
std::optional<unsigned long long> memory_limit() {
  std::optional<unsigned long long> lowest;
  for (const report::MemoryCgroup& group :
       report::memory_cgroups(read_file("/proc/self/cgroup").value_or(""))) {
    const std::string root = group.v2 ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory";
    const char* file = group.v2 ? "/memory.max" : "/memory.limit_in_bytes";
    for (const std::string& folder : group.folders) {
      const auto limit = report::memory_limit(read_file(root + folder + file).value_or(""));
      if (limit && (!lowest || *limit < *lowest)) lowest = limit;
    }
  }
  return lowest;
}

std::string why_no_loopback() {
  const UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const auto* generic = reinterpret_cast<const sockaddr*>(&address);
  if (fd && ::bind(fd.get(), generic, sizeof address) == 0 && ::listen(fd.get(), 1) == 0) return "";
  return std::string("cannot listen on 127.0.0.1: ") + ::strerror(errno);
}

Folder folder(const std::string& path) {
  Folder found{.path = path};
  found.writable = ::access(path.c_str(), W_OK | X_OK) == 0;
  struct statvfs space {};
  if (::statvfs(path.c_str(), &space) == 0)
    found.free_bytes = static_cast<unsigned long long>(space.f_bavail) * space.f_frsize;
  return found;
}

std::string python(const cli::Environment& environment) {
  const std::string name(environment.get("PYTHON_EXEC").value_or("python3"));
  const auto file =
      process::find_program(name, environment.get("PATH").value_or(process::kDefaultPath));
  return file.error == 0 ? file.path : "";
}

std::vector<std::string> scheduler(const cli::Environment& environment) {
  std::vector<std::string> found;
  for (const char* name : {"SLURM_JOB_ID", "SLURM_JOB_NODELIST", "SLURM_NTASKS", "PBS_JOBID",
                           "LSB_JOBID", "KUBERNETES_SERVICE_HOST", "OMPI_COMM_WORLD_SIZE"})
    if (const auto value = environment.get(name))
      found.push_back(std::string(name) + "=" + std::string(*value));
  return found;
}

std::string without_newline(std::string text) {
  text.erase(std::min(text.size(), text.find('\n')));
  return text;
}

void look_at_limits(Facts& facts) {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  facts.open_files_soft = limit.rlim_cur;
  facts.open_files_hard = limit.rlim_max;
  ::getrlimit(RLIMIT_CORE, &limit);
  facts.core_limit = limit.rlim_cur;
  facts.core_pattern = without_newline(read_file("/proc/sys/kernel/core_pattern").value_or(""));
}

}  // namespace

Facts look(const cli::Environment& environment) {
  Facts facts;
  facts.version = cli::version();
  facts.kernel = kernel();
  const placement::CpuList cpus = placement::inherited_cpus();
  facts.cpus = placement::range_text(cpus);
  facts.affinity_cpus = static_cast<int>(cpus.size());
  facts.allowed_cpus = plan::allowed_cpus();
  facts.memory = static_cast<unsigned long long>(::sysconf(_SC_PHYS_PAGES)) *
                 static_cast<unsigned long long>(::sysconf(_SC_PAGESIZE));
  facts.memory_limit = memory_limit();
  facts.gpus = plan::node_gpus({}, environment);
  facts.visible = plan::visible_gpus({}, facts.gpus, environment);
  facts.host = resolve(host_name(), kNamePatience);
  facts.loopback_failure = why_no_loopback();
  facts.shared_memory = folder("/dev/shm");
  const std::string temporary(environment.get("TMPDIR").value_or(""));
  facts.temporary = folder(temporary.empty() ? "/tmp" : temporary);
  facts.python = python(environment);
  const auto topology =
      placement::read_topology(std::string(environment.get("DDPRUN_HWLOC").value_or("")));
  if (!topology) facts.hwloc_failure = topology.error().text;
  look_at_limits(facts);
  facts.scheduler = scheduler(environment);
  return facts;
}

}  // namespace ddprun::doctor
