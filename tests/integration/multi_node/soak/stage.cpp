#include "tests/integration/multi_node/soak/stage.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>
#include <utility>

#include "launcher/process/children.h"
#include "rendezvous/base/command_of.h"
#include "rendezvous/base/read_file.h"
#include "tests/integration/support/left_behind.h"

namespace ddprun::nodes_soak {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// Of one ddprun, whatever is done to it.
constexpr std::chrono::seconds kLimit{60};
constexpr std::chrono::seconds kWorldLimit{30};
constexpr milliseconds kPoll{3};
constexpr std::chrono::seconds kStartLimit{5};
// Of a run that has ended rdzvd knows as long as a node may come back to hear of it.
constexpr milliseconds kLeftLimit = kReconnectTimeout + std::chrono::seconds(2);

// For what no event tells of: a file that others write, processes that are not our children.
template <class Condition>
bool comes_true(Condition condition, milliseconds limit) {
  const auto deadline = Clock::now() + limit;
  while (!condition()) {
    if (Clock::now() > deadline) return false;
    std::this_thread::sleep_for(kPoll);
  }
  return true;
}

bool executes(pid_t pid, const std::string& program) {
  std::error_code gone;
  return fs::read_symlink("/proc/" + std::to_string(pid) + "/exe", gone) == program;
}

// 0 when the guardian, or what is to become it, has ended.
pid_t launcher_of(pid_t guardian, const std::string& program) {
  pid_t launcher = 0;
  comes_true(
      [&] {
        const auto children = process::children_of(guardian);
        const bool there =
            !children.empty() && executes(guardian, program) && executes(children.front(), program);
        if (there) launcher = children.front();
        return there || !process::is_alive(guardian);
      },
      kStartLimit);
  return launcher;
}

// A host name of its own for each ddprun, so that it can be checked who is named.
std::vector<std::string> with_host_name(const std::string& name, std::vector<std::string> words) {
  std::vector<std::string> all{"/usr/bin/unshare",           "--uts", "/bin/sh", "-c",
                               "hostname $0 && exec \"$@\"", name};
  all.insert(all.end(), words.begin(), words.end());
  return all;
}

}  // namespace

std::string Stage::why_not() {
  const bool named = test::run(with_host_name("probe", {"/bin/true"})).code == 0;
  return named ? "" : "hosts cannot be given names: it takes root, or CAP_SYS_ADMIN";
}

Stage::Stage(Programs programs)
    : programs_(std::move(programs)),
      mark_("SOAK_FOLDER=" + folder_.path()),
      lasting_(programs_.rdzvd, folder_ / "rdzvd.log") {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  // As nohup and background jobs have it, ddprun would not stop by these.
  for (const int signo : {SIGINT, SIGHUP, SIGQUIT, SIGTERM}) ::signal(signo, SIG_DFL);
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
}

void Stage::set_up(const Scenario& scenario) {
  fs::create_directory(folder_ / "tmp");
  present_ = &lasting_;
  if (hurts_daemon(scenario)) {
    fragile_ = std::make_unique<Daemon>(programs_.rdzvd, folder_ / "fragile.log");
    present_ = fragile_.get();
  }
  for (int node = 0; node < kNodes; ++node)
    if (needs_relay(scenario, node))
      relays_.at(static_cast<std::size_t>(node)) = std::make_unique<Relay>(present_->port());
  ranks_.assign(scenario.faults.size(), -1);
}

void Stage::start_node(const Scenario& scenario, int node, bool again) {
  const Relay* relay = node < kNodes ? relays_.at(static_cast<std::size_t>(node)).get() : nullptr;
  auto words = command_of(scenario, node, relay != nullptr ? relay->port() : present_->port(),
                          programs_.worker);
  words.insert(words.begin(), programs_.ddprun);
  std::vector<std::string> variables{mark_, "TMPDIR=" + (folder_ / "tmp"),
                                     "SOAK_NODE=" + std::to_string(node)};
  if (node == scenario.early) variables.push_back("SOAK_EARLY=1");
  nodes_.push_back(
      {.number = node,
       .again = again,
       .ddprun = std::make_unique<test::Program>(
           with_host_name(node_name(node), std::move(words)),
           test::RunOptions{.environment = std::move(variables), .input = {}, .limit = kLimit})});
}

// The one that was started last in this place.
test::Program& Stage::ddprun_of(int node) {
  const auto found = std::find_if(nodes_.rbegin(), nodes_.rend(),
                                  [node](const Node& each) { return each.number == node; });
  return *found->ddprun;
}

std::vector<Met> Stage::met() const {
  return parse(read_file(folder_ / "met").value_or(""));
}

bool Stage::all_ended() const {
  return std::ranges::none_of(
      nodes_, [](const Node& each) { return process::is_alive(each.ddprun->pid()); });
}

bool Stage::wait_for_world() {
  return comes_true([this] { return is_complete(met()) || all_ended(); }, kWorldLimit);
}

std::string Stage::act_out(const Scenario& scenario) {
  for (int node = 0; node < kNodes; ++node) start_node(scenario, node, false);
  if (scenario.while_joining) {
    perform(scenario);
    wait_for_world();
    release();
    return "";
  }
  if (!wait_for_world()) return "the world did not come together";
  perform(scenario);
  return "";
}

void Stage::perform(const Scenario& scenario) {
  const auto start = Clock::now();
  for (const Action& action : actions_of(scenario)) {
    std::this_thread::sleep_until(start + action.at);
    if (action.act == Act::begin) begin(scenario, action.fault);
    if (action.act == Act::end) end(scenario, scenario.faults.at(action.fault));
    if (action.act == Act::release) release();
  }
}

void Stage::begin(const Scenario& scenario, std::size_t index) {
  const Fault& fault = scenario.faults.at(index);
  switch (fault.kind) {
    case FaultKind::worker_exits:
    case FaultKind::worker_killed:
      ranks_.at(index) = hit_worker(scenario, fault);
      return;
    case FaultKind::launcher_killed:
    case FaultKind::launcher_stopped:
      if (const pid_t launcher = launcher_of(ddprun_of(fault.node).pid(), programs_.ddprun);
          launcher > 0)
        ::kill(launcher, fault.kind == FaultKind::launcher_killed ? SIGKILL : SIGSTOP);
      return;
    case FaultKind::guardian_killed:
      ::kill(ddprun_of(fault.node).pid(), SIGKILL);
      return;
    case FaultKind::told_to_stop:
      ::kill(ddprun_of(fault.node).pid(), fault.number);
      return;
    case FaultKind::link_cut:
      return relays_.at(static_cast<std::size_t>(fault.node))->cut();
    case FaultKind::link_frozen:
      return relays_.at(static_cast<std::size_t>(fault.node))->freeze();
    case FaultKind::daemon_killed:
      return present_->end(SIGKILL);
    case FaultKind::daemon_ended:
      return present_->end(SIGTERM);
    case FaultKind::daemon_stopped:
      return present_->stop();
    case FaultKind::cancelled:
      return cancel(scenario);
    case FaultKind::newcomer:
      return start_node(scenario, fault.node, false);
  }
}

void Stage::end(const Scenario& scenario, const Fault& fault) {
  if (fault.comes_back) return start_node(scenario, fault.node, true);
  const pid_t guardian = ddprun_of(fault.node).pid();
  switch (fault.kind) {
    case FaultKind::launcher_stopped:
      if (const pid_t launcher = launcher_of(guardian, programs_.ddprun); launcher > 0)
        ::kill(launcher, SIGCONT);
      ::kill(guardian, SIGCONT);
      return;
    case FaultKind::link_cut:
    case FaultKind::link_frozen:
      return relays_.at(static_cast<std::size_t>(fault.node))->heal();
    case FaultKind::daemon_killed:
    case FaultKind::daemon_ended:
      return present_->start();
    default:
      return present_->go_on();
  }
}

// The rank, or -1 when there is nobody to hit any more.
int Stage::hit_worker(const Scenario& scenario, const Fault& fault) {
  wait_for_world();
  const auto world = last_world(met());
  const auto worker = std::ranges::find_if(world, [&](const Met& each) {
    return each.node == fault.node && each.local_rank == fault.number % scenario.workers;
  });
  if (worker == world.end()) return -1;
  const auto ours = test::pids_with_variable(mark_);
  if (std::ranges::find(ours, worker->pid) == ours.end()) return -1;
  const sigval code{.sival_int = fault.number};
  const int failed = fault.kind == FaultKind::worker_exits ? ::sigqueue(worker->pid, SIGUSR2, code)
                                                           : ::kill(worker->pid, fault.number);
  return failed == 0 ? worker->rank : -1;
}

void Stage::cancel(const Scenario& scenario) {
  comes_true(
      [&] {
        return all_ended() || test::run({programs_.rdzvctl, "--endpoint",
                                         "127.0.0.1:" + std::to_string(present_->port()), "cancel",
                                         run_id(scenario)})
                                      .code == 0;
      },
      kWorldLimit);
}

void Stage::release() {
  std::ofstream(folder_ / "go").flush();
  const auto ours = test::pids_with_variable(mark_);
  for (const Met& each : met())
    if (std::ranges::find(ours, each.pid) != ours.end()) ::kill(each.pid, SIGUSR1);
}

Observation Stage::finish() {
  Observation seen{.ranks = ranks_};
  for (const Node& node : nodes_) {
    test::Finished end = node.ddprun->finish();
    seen.lives.push_back({.node = node.number,
                          .again = node.again,
                          .timed_out = end.timed_out,
                          .code = end.code,
                          .signal = end.signal,
                          .err = std::move(end.err)});
  }
  seen.met = met();
  return seen;
}

std::string Stage::left_processes() const {
  if (comes_true([this] { return test::pids_with_variable(mark_).empty(); }, kLeftLimit)) return "";
  const pid_t pid = test::pids_with_variable(mark_).front();
  return "left behind: process " + std::to_string(pid) + " (" + ddprun::command_of(pid) + ")";
}

// A ddprun that was killed cannot remove its empty directories.
std::string Stage::left_files(const Observation& seen) const {
  const bool killed =
      std::ranges::any_of(seen.lives, [](const Life& life) { return life.signal == SIGKILL; });
  const std::string base = folder_ / ("tmp/ddprun-" + std::to_string(::geteuid()));
  const std::string left = test::first_in(base, killed);
  if (left.empty()) return "";
  const std::string run = left.substr(0, left.find('/', base.size() + 1));
  const bool named = std::ranges::any_of(
      seen.lives, [&](const Life& life) { return life.err.find(run) != std::string::npos; });
  return named ? "" : "left behind: " + left;
}

std::string Stage::left_run(const Scenario& scenario) const {
  if (!present_->is_alive()) return "rdzvd has ended";
  test::Finished status;
  const auto is_gone = [&] {
    status = test::run({programs_.rdzvctl, "--endpoint",
                        "127.0.0.1:" + std::to_string(present_->port()), "status", "--json"});
    return status.code == 0 && status.out.find("\"" + run_id(scenario) + "\"") == std::string::npos;
  };
  if (comes_true(is_gone, kLeftLimit)) return "";
  return status.code == 0 ? "rdzvd still knows the run"
                          : "rdzvd does not say what it knows: " + status.err;
}

void Stage::clear() {
  nodes_.clear();
  for (auto& relay : relays_) relay.reset();
  for (const pid_t pid : test::pids_with_variable(mark_))
    if (pid != ::getpid()) ::kill(pid, SIGKILL);
  fragile_.reset();
  // Those that lost their parent; the lasting rendezvous lives on.
  for (const pid_t pid : process::children_of(::getpid())) ::waitpid(pid, nullptr, WNOHANG);
  for (const char* name : {"tmp", "met", "go", "fragile.log"}) fs::remove_all(folder_ / name);
}

RoundResult Stage::play(const Scenario& scenario) {
  set_up(scenario);
  std::string wrong = act_out(scenario);
  Observation seen = finish();
  const std::string checks[] = {wrong.empty() ? wrong_with(scenario, seen) : "", left_processes(),
                                left_files(seen), left_run(scenario)};
  for (const std::string& found : checks)
    if (!found.empty()) wrong += (wrong.empty() ? "" : "; ") + found;
  if (!wrong.empty()) {
    for (const Life& life : seen.lives)
      wrong += "\n---- " + node_name(life.node) + (life.again ? " again" : "") + ": " +
               std::to_string(life.code) + ", signal " + std::to_string(life.signal) + "\n" +
               life.err;
    wrong += "---- rdzvd\n" +
             read_file(folder_ / (fragile_ ? "fragile.log" : "rdzvd.log")).value_or("") +
             "---- met\n" + read_file(folder_ / "met").value_or("");
  }
  clear();
  return {std::move(seen), std::move(wrong)};
}

}  // namespace ddprun::nodes_soak
