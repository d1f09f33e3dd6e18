#include "tests/integration/slurm/cluster.h"

#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>

#include "launcher/process/children.h"
#include "rendezvous/base/read_file.h"
#include "tests/integration/support/loopback_port.h"

namespace ddprun::test {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr seconds kStartLimit{25};
constexpr milliseconds kPoll{100};  // squeue and sinfo tell no events

std::string user() {
  const passwd* entry = ::getpwuid(::getuid());
  if (entry == nullptr) throw std::runtime_error("this user has no name");
  return entry->pw_name;
}

// ddprun makes a port of the number of the job, and several of these may run beside each other.
int first_job() {
  return 1 + ::getpid() % 2'000 * 20;
}

std::string name_of(int node) {
  return "n" + std::to_string(node);
}

// The limits are wide, for a loaded machine. proctrack/pgid lets a signal reach what srun has
// started, as proctrack/cgroup does on real clusters, and not the workers below it.
// cred_expire is how long a requeued job has to wait.
std::string configuration(const SlurmOptions& options, const std::string& folder,
                          const std::vector<std::uint16_t>& ports) {
  std::string text =
      "ClusterName=loop\n"
      "SlurmctldHost=localhost(127.0.0.1)\n"
      "SlurmctldPort=" +
      std::to_string(ports.at(0)) + "\nSlurmUser=" + user() + "\nSlurmdUser=" + user() +
      "\nAuthType=auth/none\nCredType=cred/none\nAuthInfo=cred_expire=5\n"
      "CommunicationParameters=NoCtldInAddrAny,NoInAddrAny\n"
      "ProctrackType=proctrack/pgid\nTaskPlugin=task/none\n"
      "JobAcctGatherType=jobacct_gather/none\nAccountingStorageType=accounting_storage/none\n"
      "JobCompType=jobcomp/none\nMpiDefault=none\n"
      "SelectType=select/cons_tres\nSelectTypeParameters=CR_Core\n"
      "SchedulerParameters=batch_sched_delay=0,sched_min_interval=0,requeue_delay=0\n"
      "SlurmdParameters=config_overrides\nReturnToService=2\n"
      "SlurmctldTimeout=300\nSlurmdTimeout=300\nMessageTimeout=60\nTCPTimeout=20\n"
      "KillWait=20\nMinJobAge=300\nGresTypes=gpu\n"
      "FirstJobId=" +
      std::to_string(first_job()) + "\n";
  for (const auto& [name, value] :
       std::vector<std::pair<std::string, std::string>>{{"StateSaveLocation", "/ctld"},
                                                        {"SlurmdSpoolDir", "/%n"},
                                                        {"SlurmctldPidFile", "/slurmctld.pid"},
                                                        {"SlurmdPidFile", "/slurmd.%n.pid"},
                                                        {"SlurmctldLogFile", "/slurmctld.log"},
                                                        {"SlurmdLogFile", "/slurmd.%n.log"}})
    text += name + "=" + folder + value + "\n";
  for (int node = 1; node <= options.nodes; ++node)
    text += "NodeName=" + name_of(node) +
            " NodeHostname=localhost NodeAddr=127.0.0.1 Port=" + std::to_string(ports.at(node)) +
            " CPUs=" + std::to_string(options.cpus) + " RealMemory=1000 Gres=gpu:8 State=UNKNOWN\n";
  return text + "PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP\n";
}

// All different: each is held until all are known.
std::vector<std::uint16_t> free_ports(int count) {
  std::vector<std::unique_ptr<LoopbackPort>> held;
  std::vector<std::uint16_t> numbers;
  for (int port = 0; port < count; ++port) {
    held.push_back(std::make_unique<LoopbackPort>());
    numbers.push_back(held.back()->number());
  }
  return numbers;
}

}  // namespace

bool comes_true(const std::function<bool()>& condition, seconds limit) {
  for (const auto deadline = Clock::now() + limit; Clock::now() < deadline;) {
    if (condition()) return true;
    ::poll(nullptr, 0, static_cast<int>(kPoll.count()));
  }
  return false;
}

std::string SlurmCluster::why_not() {
  for (const char* name : {"/usr/sbin/slurmctld", "/usr/sbin/slurmd", "/usr/bin/srun"})
    if (!std::filesystem::exists(name))
      return std::string(name) + " is missing (Debian: slurmctld, slurmd and slurm-client)";
  return {};
}

SlurmCluster::SlurmCluster(SlurmOptions options) : options_(options) {
  for (const char* name : {"work", "ctld"}) std::filesystem::create_directory(folder_ / name);
  for (int node = 1; node <= options_.nodes; ++node)
    std::filesystem::create_directory(folder_ / name_of(node));
  // Slurm hands out devices, and looks at nothing but that they are some.
  for (int gpu = 0; gpu < 8; ++gpu)
    std::filesystem::create_symlink("/dev/null", folder_ / "gpu" + std::to_string(gpu));
  // A port may be taken by somebody else before it is used here.
  for (int tries = 3; tries > 0; --tries) {
    start_daemons();
    if (come_up()) return;
    end_daemons();
  }
  throw std::runtime_error("Slurm's nodes are not idle: " + last_lines());
}

SlurmCluster::~SlurmCluster() {
  end_daemons();
}

void SlurmCluster::start_daemons() {
  std::ofstream(folder_ / "slurm.conf")
      << configuration(options_, folder_.path(), free_ports(options_.nodes + 1));
  std::ofstream(folder_ / "gres.conf") << "Name=gpu File=" << folder_ / "gpu[0-7]"
                                       << "\n";
  Words words{DDPRUN_TEST_KEEPER, daemon("slurmctld", "slurmctld -c -D")};
  for (int node = 1; node <= options_.nodes; ++node)
    words.push_back(daemon(name_of(node), "slurmd -D -N " + name_of(node)));
  keeper_ = std::make_unique<Program>(
      words, RunOptions{.environment = {"SLURM_CONF=" + (folder_ / "slurm.conf")},
                        .limit = options_.life});
}

void SlurmCluster::end_daemons() {
  if (!keeper_) return;
  ::kill(keeper_->pid(), SIGTERM);
  keeper_->finish();
  keeper_.reset();
}

std::string SlurmCluster::daemon(const std::string& name, const std::string& line) const {
  return "exec " + line + " -f " + (folder_ / "slurm.conf") + " >" + (folder_ / name) + ".out 2>&1";
}

std::unique_ptr<Program> SlurmCluster::start(Words words, RunOptions options) const {
  options.environment.push_back("SLURM_CONF=" + (folder_ / "slurm.conf"));
  words.insert(words.begin(), {"/usr/bin/env", "-C", folder()});
  return std::make_unique<Program>(std::move(words), std::move(options));
}

Finished SlurmCluster::run(Words words, RunOptions options) const {
  return start(std::move(words), std::move(options))->finish();
}

bool SlurmCluster::answers(const Words& question, const std::string& answer) const {
  const Finished end = run(question);
  return end.code == 0 && end.out == answer;
}

bool SlurmCluster::is_empty() const {
  return comes_true([&] { return answers({"squeue", "--noheader"}, ""); });
}

bool SlurmCluster::nodes_are_idle() const {
  return answers({"sinfo", "--noheader", "--format", "%D %T"},
                 std::to_string(options_.nodes) + " idle\n");
}

bool SlurmCluster::is_idle() const {
  return comes_true([this] { return nodes_are_idle(); });
}

// False as soon as one of the daemons has ended.
bool SlurmCluster::come_up() const {
  const auto are_running = [this] { return process::is_alive(keeper_->pid()); };
  return comes_true([&] { return !are_running() || nodes_are_idle(); }, kStartLimit) &&
         are_running();
}

std::string SlurmCluster::write(const std::string& name, const std::string& text) const {
  const std::string path = folder() + "/" + name;
  std::ofstream(path) << text;
  return path;
}

std::string SlurmCluster::last_lines() const {
  std::string all;
  for (const char* name : {"slurmctld.out", "n1.out"}) {
    const std::string text = read_file(folder_ / name).value_or("");
    all += "\n" + text.substr(text.size() - std::min<std::size_t>(text.size(), 2'000));
  }
  return all;
}

std::vector<pid_t> SlurmCluster::processes_with(const std::string& entry) const {
  std::vector<pid_t> found;
  for (const pid_t pid : process::descendants_of(keeper_->pid())) {
    const auto text = read_file("/proc/" + std::to_string(pid) + "/environ").value_or("");
    if (text.find(entry + '\0') != std::string::npos) found.push_back(pid);
  }
  return found;
}

}  // namespace ddprun::test
