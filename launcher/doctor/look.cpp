#include "launcher/doctor/look.h"

#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/timex.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "launcher/cli/version.h"
#include "launcher/devices/discover.h"
#include "launcher/doctor/gpu_records.h"
#include "launcher/doctor/look_network.h"
#include "launcher/doctor/look_software.h"
#include "launcher/doctor/question.h"
#include "launcher/doctor/read_amounts.h"
#include "launcher/placement/cpu_list.h"
#include "launcher/placement/machine.h"
#include "launcher/plan/node.h"
#include "launcher/process/program.h"
#include "launcher/report/wall_clock.h"
#include "launcher/stacks/tool.h"
#include "rendezvous/base/first_line.h"
#include "rendezvous/base/read_file.h"

namespace ddprun::doctor {
namespace {

using Until = Question::Clock::time_point;

constexpr const char* kDefaultFolder = "/tmp";

std::string kernel() {
  utsname name{};
  ::uname(&name);
  return std::string(name.sysname) + " " + name.release + " " + name.machine;
}

std::string host_name() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 ? name : "localhost";
}

std::string path_of(const std::string& name, const cli::Environment& environment) {
  const auto file =
      process::find_program(name, environment.get("PATH").value_or(process::kDefaultPath));
  return file.error == 0 ? file.path : "";
}

// "writable free", or nothing.
Question ask_folder(const std::string& path) {
  return Question([path] {
    std::string text = ::access(path.c_str(), W_OK | X_OK) == 0 ? "1" : "0";
    struct statvfs space {};
    if (::statvfs(path.c_str(), &space) == 0)
      text +=
          " " + std::to_string(static_cast<unsigned long long>(space.f_bavail) * space.f_frsize);
    return text;
  });
}

Folder read_folder(const std::string& path, Question& question, Until until) {
  Folder found{.path = path};
  const auto text = question.answer(until);
  found.timed_out = !text;
  found.writable = text && text->starts_with("1");
  if (text && text->size() > 2) found.free_bytes = std::stoull(text->substr(2));
  return found;
}

Question ask_gpus(const cli::JobSpec& job, const cli::Environment& environment) {
  return Question([&] { return gpu_records(plan::node_gpus(job, environment)); });
}

void read_gpus(const cli::JobSpec& job, const cli::Environment& environment, Question& question,
               Until until, Facts& facts) {
  const auto text = question.answer(until);
  const auto gpus = read_gpu_records(text.value_or(""));
  facts.gpus_timed_out = !gpus;
  if (gpus) facts.gpus = *gpus;
  facts.visible = plan::visible_gpus(job, facts.gpus, environment);
  facts.driver = driver_version(read_file("/proc/driver/nvidia/version").value_or(""));
}

// Only root may ask.
Question ask_nft(const cli::Environment& environment) {
  const std::string path = ::geteuid() == 0 ? path_of("nft", environment) : "";
  return Question::program({path.empty() ? "/bin/true" : path, "list", "chains"});
}

std::string temporary_folder(const cli::Environment& environment) {
  const std::string given(environment.get("TMPDIR").value_or(""));
  return given.empty() ? kDefaultFolder : given;
}

// What may hang; all is asked at once, and waited for together.
void ask(const cli::JobSpec& job, const cli::Environment& environment, Until until, Facts& facts) {
  const bool meets = job.rendezvous.several_nodes();
  const cli::MeetingPoint& point = job.rendezvous.endpoint.value;
  const std::string temporary = temporary_folder(environment);
  facts.python =
      path_of(std::string(environment.get("PYTHON_EXEC").value_or("python3")), environment);
  Question host = ask_host(host_name());
  Question there = ask_host(meets ? point.host : "127.0.0.1");
  Question connection = ask_connection(meets ? point : cli::MeetingPoint{});
  Question gpus = ask_gpus(job, environment);
  Question shared = ask_folder("/dev/shm");
  Question writable = ask_folder(temporary);
  Question torch = ask_torch(facts.python.empty() ? "/bin/true" : facts.python);
  Question nccl = ask_nccl();
  Question nft = ask_nft(environment);

  facts.host = read_host(host_name(), host, until);
  if (meets) {
    facts.endpoint = Endpoint{.host = read_host(point.host, there, until), .port = point.port};
    const auto failure = connection.answer(until);
    facts.endpoint->timed_out = !failure;
    facts.endpoint->failure = failure.value_or("");
  }
  read_gpus(job, environment, gpus, until, facts);
  facts.shared_memory = read_folder("/dev/shm", shared, until);
  facts.temporary = read_folder(temporary, writable, until);
  const auto torch_text = torch.answer(until);
  facts.torch = read_torch(torch_text.value_or(""));
  facts.torch.timed_out = !torch_text;
  if (facts.torch.version.empty() && torch_text) facts.torch = libtorch_alone(environment);
  facts.nccl = nccl.answer(until).value_or("");
  facts.firewalls = firewalls(nft.answer(until).value_or(""));
}

void look_at_ports(const cli::JobSpec& job, Facts& facts) {
  std::set<std::uint16_t> numbers{29400, 29500};
  if (job.rendezvous.several_nodes()) numbers.insert(job.rendezvous.endpoint.value.port);
  for (const std::uint16_t number : numbers) facts.ports.push_back(look_at_port(number));
  if (job.master_port) facts.needed_port = look_at_port(*job.master_port);
}

// The soft limit.
unsigned long long limit_of(__rlimit_resource resource) {
  rlimit limit{};
  ::getrlimit(resource, &limit);
  return limit.rlim_cur;
}

void look_at_limits(Facts& facts) {
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  facts.open_files_soft = files.rlim_cur;
  facts.open_files_hard = files.rlim_max;
  facts.processes_soft = limit_of(RLIMIT_NPROC);
  facts.is_root = ::geteuid() == 0;
  facts.locked_memory = limit_of(RLIMIT_MEMLOCK);
  facts.core_limit = limit_of(RLIMIT_CORE);
  facts.core_pattern = first_line(read_file("/proc/sys/kernel/core_pattern").value_or(""));
  std::error_code none;
  for (const auto& adapter : std::filesystem::directory_iterator("/sys/class/infiniband", none))
    facts.infiniband.push_back(adapter.path().filename());
}

void look_at_amounts(Facts& facts) {
  const placement::CpuList cpus = placement::inherited_cpus();
  facts.cpus = placement::range_text(cpus);
  facts.affinity_cpus = static_cast<int>(cpus.size());
  facts.allowed_cpus = plan::allowed_cpus();
  facts.memory = static_cast<unsigned long long>(::sysconf(_SC_PHYS_PAGES)) *
                 static_cast<unsigned long long>(::sysconf(_SC_PAGESIZE));
  facts.memory_available = available_memory(read_file("/proc/meminfo").value_or(""));
  const std::string groups = read_file("/proc/self/cgroup").value_or("");
  facts.cgroup_memory = cgroup_memory(groups, "/sys/fs/cgroup");
  facts.cgroup_processes = cgroup_processes(groups, "/sys/fs/cgroup");
}

bool clock_is_synchronized() {
  timex state{};
  return ::adjtimex(&state) >= 0 && !(state.status & STA_UNSYNC);
}

std::string now() {
  const auto clock = report::WallClock::now();
  return report::iso_time(clock, clock.steady).substr(0, 19) + "Z";
}

}  // namespace

Facts look(const cli::JobSpec& job, const cli::Environment& environment,
           std::chrono::milliseconds patience) {
  Facts facts;
  facts.version = cli::version();
  facts.kernel = kernel();
  facts.libc = libc();
  facts.time = now();
  ask(job, environment, Question::Clock::now() + patience, facts);
  look_at_amounts(facts);
  facts.interfaces = interfaces();
  facts.loopback_failure = why_no_loopback();
  look_at_ports(job, facts);
  const auto topology =
      placement::read_topology(std::string(environment.get("DDPRUN_HWLOC").value_or("")));
  if (!topology) facts.hwloc_failure = topology.error().text;
  facts.stack_tool =
      stacks::find_tool(environment.get("PATH").value_or(process::kDefaultPath)).path;
  look_at_limits(facts);
  facts.scheduler = scheduler(environment);
  facts.interface_choices = entries_of(environment, {"NCCL_SOCKET_IFNAME", "GLOO_SOCKET_IFNAME"});
  facts.environment = settings(environment);
  facts.clock_synchronized = clock_is_synchronized();
  return facts;
}

}  // namespace ddprun::doctor
