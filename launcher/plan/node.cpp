#include "launcher/plan/node.h"

#include <unistd.h>

#include <algorithm>

#include "launcher/devices/discover.h"
#include "launcher/devices/visible.h"
#include "launcher/placement/machine.h"
#include "rendezvous/base/cgroups.h"
#include "rendezvous/base/decimal.h"
#include "rendezvous/base/read_file.h"

namespace ddprun::plan {
namespace {

std::string file_text(const std::string& path) {
  return read_file(path).value_or("");
}

std::optional<double> number(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t\n");
  if (begin == std::string_view::npos) return std::nullopt;
  return read_decimal(text.substr(begin, text.find_last_not_of(" \t\n") - begin + 1));
}

std::optional<double> ratio(std::optional<double> quota, std::optional<double> period) {
  if (!quota || !period || *quota <= 0 || *period <= 0) return std::nullopt;
  return *quota / *period;
}

void lower(std::optional<double>& limit, std::optional<double> other) {
  if (other && (!limit || *other < *limit)) limit = other;
}

std::optional<double> cgroup_limit() {
  const CgroupFolders folders = cgroup_folders(file_text("/proc/self/cgroup"));
  std::optional<double> limit;
  for (const std::string& folder : folders.v2)
    lower(limit, cpu_max_limit(file_text("/sys/fs/cgroup" + folder + "/cpu.max")));
  for (const std::string& folder : folders.v1) {
    const std::string path = "/sys/fs/cgroup/cpu" + folder;
    lower(limit,
          cfs_limit(file_text(path + "/cpu.cfs_quota_us"), file_text(path + "/cpu.cfs_period_us")));
  }
  return limit;
}

std::string host_name() {
  char name[256] = {};
  if (gethostname(name, sizeof name - 1) != 0) return "localhost";
  const std::string_view text = name;
  return std::string(text.substr(0, text.find('.')));
}

}  // namespace

Node this_node(const cli::Environment& environment) {
  Node node;
  // What the user calls it, where ddprun was started by that name.
  const auto name = environment.get(cluster::kHostsName);
  node.host = name ? std::string(*name) : host_name();
  node.allowed_cpus = allowed_cpus();
  node.omp_num_threads_set = environment.get("OMP_NUM_THREADS").has_value();
  const auto python = environment.get("PYTHON_EXEC");
  if (python && !python->empty()) node.python = std::string(*python);
  return node;
}

std::optional<Machine> machine_of(const cli::JobSpec& job, const devices::NodeGpus& gpus,
                                  const cli::Environment& environment) {
  if (job.bind == cli::BindMode::none && !job.report_bindings) return std::nullopt;
  Machine machine;
  machine.allowed = placement::inherited_cpus();
  if (job.bind == cli::BindMode::none) return machine;
  auto topology =
      placement::read_topology(std::string(environment.get("DDPRUN_HWLOC").value_or("")));
  if (topology)
    machine.topology = std::move(*topology);
  else
    machine.failure = topology.error().text;
  const std::string sysfs(environment.get("DDPRUN_SYSFS").value_or("/sys"));
  for (const devices::Gpu& gpu : gpus.gpus)
    if (const auto node = placement::node_of_device(gpu.pci_address, sysfs))
      machine.gpu_nodes[gpu.pci_address] = *node;
  return machine;
}

int allowed_cpus() {
  const int cpus = static_cast<int>(placement::inherited_cpus().size());
  const std::optional<double> limit = cgroup_limit();
  if (!limit || *limit >= cpus) return std::max(1, cpus);
  return std::max(1, static_cast<int>(*limit));
}

bool wants_cpu_only(const cli::JobSpec& job) {
  if (job.device == cli::DeviceChoice::cpu) return true;
  return job.device == cli::DeviceChoice::automatic &&
         job.workers.kind == cli::WorkerCount::Kind::cpu;
}

devices::NodeGpus node_gpus(const cli::JobSpec& job, const cli::Environment& environment) {
  if (wants_cpu_only(job)) return {};
  if (job.simulated_gpus) return devices::simulate(*job.simulated_gpus);
  const std::string library(environment.get("DDPRUN_NVML").value_or(""));
  return devices::discover(library.empty() ? devices::kNvmlLibrary : library);
}

devices::VisibleGpus visible_gpus(const cli::JobSpec& job, const devices::NodeGpus& node,
                                  const cli::Environment& environment) {
  std::optional<std::string> list;
  if (const auto text = environment.get("CUDA_VISIBLE_DEVICES")) list = std::string(*text);
  const bool by_address = environment.get("CUDA_DEVICE_ORDER") == "PCI_BUS_ID";
  return devices::visible(
      list, node,
      by_address ? devices::DeviceOrder::pci_bus_id : devices::DeviceOrder::fastest_first,
      job.virtual_local_rank ? devices::ListFor::one_entry_each : devices::ListFor::each_process);
}

std::optional<double> cpu_max_limit(std::string_view text) {
  const auto blank = text.find(' ');
  if (blank == std::string_view::npos) return std::nullopt;
  return ratio(number(text.substr(0, blank)), number(text.substr(blank + 1)));
}

std::optional<double> cfs_limit(std::string_view quota, std::string_view period) {
  return ratio(number(quota), number(period));
}

CgroupFolders cgroup_folders(std::string_view proc_self_cgroup) {
  CgroupFolders folders;
  for (const Cgroup& group : read_cgroups(proc_self_cgroup)) {
    if (group.v2())
      folders.v2 = group.folders;
    else if (group.has("cpu"))
      folders.v1 = group.folders;
  }
  return folders;
}

}  // namespace ddprun::plan
