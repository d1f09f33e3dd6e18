#include "tests/integration/worker_sdk/job.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <stdexcept>
#include <utility>

#include "tests/integration/support/loopback_port.h"
#include "tests/support/gloo_chatter.h"

namespace ddp::test {
namespace {

using Clock = std::chrono::steady_clock;

bool set_by_a_launcher(const std::string& name) {
  for (const char* prefix : {"RANK=", "LOCAL_", "WORLD_SIZE=", "MASTER_", "GROUP_", "ROLE_",
                             "TORCHELASTIC_", "DDPRUN_", "DDPRUN=", "CUDA_VISIBLE_DEVICES="}) {
    if (name.starts_with(prefix)) return true;
  }
  return false;
}

std::vector<std::string> environment_of_child(const Environment& more) {
  std::vector<std::string> all;
  for (char** each = environ; *each; ++each) {
    const std::string entry = *each;
    if (!set_by_a_launcher(entry) && !more.contains(entry.substr(0, entry.find('=')))) {
      all.push_back(entry);
    }
  }
  // Two cores and several ranks: one thread each.
  if (!more.contains("OMP_NUM_THREADS")) all.push_back("OMP_NUM_THREADS=1");
  for (const auto& [name, value] : more) all.push_back(name + "=" + value);
  return all;
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (const std::string& text : texts) result.push_back(const_cast<char*>(text.c_str()));
  result.push_back(nullptr);
  return result;
}

// The child leads a process group, so that its own children can be killed with it.
pid_t spawn(const std::vector<std::string>& command, const Environment& environment, int in,
            int out, int err) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, in, 0);
  posix_spawn_file_actions_adddup2(&files, out, 1);
  posix_spawn_file_actions_adddup2(&files, err, 2);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, 0);
  const auto variables = environment_of_child(environment);
  pid_t pid = -1;
  const int error = posix_spawn(&pid, command[0].c_str(), &files, &attributes,
                                pointers(command).data(), pointers(variables).data());
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) throw std::runtime_error(command[0] + ": " + std::strerror(error));
  return pid;
}

// Several processes may write to it, so each write goes to its end.
int output_file() {
  const int fd = memfd_create("output", MFD_CLOEXEC);
  if (fd < 0 || fcntl(fd, F_SETFL, O_APPEND) != 0) throw std::runtime_error("no file for output");
  return fd;
}

std::string read_all(int fd) {
  std::string text(static_cast<std::size_t>(lseek(fd, 0, SEEK_END)), '\0');
  if (pread(fd, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) {
    throw std::runtime_error("the output of a child could not be read");
  }
  close(fd);
  return text;
}

bool ends_until(pid_t pid, Clock::time_point end) {
  const int fd = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
  pollfd ended{fd, POLLIN, 0};
  const auto left =
      std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
  const int ready = poll(&ended, 1, static_cast<int>(std::max<std::int64_t>(left, 0)));
  close(fd);
  return ready == 1;
}

// Where its threads are, of a process that did not end in time: the next run may end in time.
std::string stacks_of(pid_t pid) {
  const std::string command = "timeout 20 eu-stack -p " + std::to_string(pid) + " 2>&1";
  std::FILE* output = popen(command.c_str(), "r");
  if (output == nullptr) return "";
  std::string text = "\nIt did not end in time. $ " + command + "\n";
  char line[4096];
  while (std::fgets(line, sizeof line, output)) text += line;
  pclose(output);
  return text;
}

}  // namespace

Child::Child(const std::vector<std::string>& command, const Environment& environment)
    : out_(output_file()), err_(output_file()) {
  const int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
  pid_ = spawn(command, environment, null, out_, err_);
  close(null);
}

Child::Child(Child&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), out_(other.out_), err_(other.err_) {}

Child::~Child() {
  if (pid_ <= 0) return;
  kill(-pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
  close(out_);
  close(err_);
}

Ended Child::wait(Clock::time_point end) {
  Ended ended;
  ended.timed_out = !ends_until(pid_, end);
  const std::string stacks = ended.timed_out ? stacks_of(pid_) : "";
  if (ended.timed_out) kill(-pid_, SIGKILL);
  int status = 0;
  waitpid(pid_, &status, 0);
  pid_ = -1;
  if (WIFEXITED(status)) ended.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) ended.signal = WTERMSIG(status);
  ended.out = ddprun::test::without_gloo_chatter(read_all(out_));
  ended.err = read_all(err_) + stacks;
  return ended;
}

StoreHost::StoreHost() {
  int commands[2], answers[2];
  if (pipe2(commands, O_CLOEXEC) != 0 || pipe2(answers, O_CLOEXEC) != 0) {
    throw std::runtime_error("no pipe for the store");
  }
  pid_ = spawn({DDPRUN_TEST_STORE_HOST}, {}, commands[0], answers[1], 2);
  close(commands[0]);
  close(answers[1]);
  to_ = commands[1];
  from_ = fdopen(answers[0], "r");
  port_ = std::stoi(ask(""));
}

StoreHost::~StoreHost() {
  kill(pid_, SIGCONT);
  close(to_);  // it ends when there are no more commands
  if (!ends_until(pid_, in(std::chrono::seconds(10)))) kill(-pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
  std::fclose(from_);
}

std::string StoreHost::ask(const std::string& command) {
  if (!command.empty() && write(to_, command.data(), command.size()) < 0) return "gone";
  char line[256];
  if (!std::fgets(line, sizeof line, from_)) throw std::runtime_error("the store has ended");
  return line;
}

void StoreHost::wait_for(const std::string& key) {
  ask("wait " + key + "\n");
}

void StoreHost::freeze() {
  kill(pid_, SIGSTOP);
}

bool StoreHost::has(const std::string& key) {
  return ask("check " + key + "\n") == "1\n";
}

Environment rank_environment(int rank, int world_size, int port) {
  const std::string index = std::to_string(rank), size = std::to_string(world_size);
  return {{"RANK", index},
          {"LOCAL_RANK", index},
          {"WORLD_SIZE", size},
          {"LOCAL_WORLD_SIZE", size},
          {"GROUP_RANK", "0"},
          {"MASTER_ADDR", "127.0.0.1"},
          {"MASTER_PORT", std::to_string(port)},
          {"TORCHELASTIC_USE_AGENT_STORE", "True"},
          {"TORCHELASTIC_RESTART_COUNT", "0"},
          // Also where there are GPUs: the tests know what Gloo and the CPU answer.
          {"DDPRUN_DEVICE", "cpu"}};
}

std::vector<Ended> run_commands(const std::vector<std::vector<std::string>>& commands,
                                const Environment& more, std::chrono::seconds limit) {
  const StoreHost store;
  std::vector<Child> children;
  for (std::size_t rank = 0; rank < commands.size(); ++rank) {
    Environment environment = more;
    environment.merge(
        rank_environment(static_cast<int>(rank), static_cast<int>(commands.size()), store.port()));
    children.emplace_back(commands[rank], environment);
  }
  const auto end = in(limit);
  std::vector<Ended> ranks;
  for (Child& child : children) ranks.push_back(child.wait(end));
  return ranks;
}

std::vector<Ended> run_ranks(int world_size, const std::string& scenario, const Environment& more) {
  const std::vector<std::string> command{DDPRUN_TEST_WORKER, scenario};
  return run_commands(std::vector(static_cast<std::size_t>(world_size), command), more);
}

std::vector<Ended> run_hosting(const std::vector<std::vector<std::string>>& commands,
                               const Environment& more) {
  for (int tries = 1;; ++tries) {
    const int port = ddprun::test::LoopbackPort().number();  // free from here on
    std::vector<Child> children;
    for (std::size_t rank = 0; rank < commands.size(); ++rank) {
      Environment environment = more;
      environment.merge(
          rank_environment(static_cast<int>(rank), static_cast<int>(commands.size()), port));
      environment.insert_or_assign("TORCHELASTIC_USE_AGENT_STORE", "False");
      children.emplace_back(commands[rank], environment);
    }
    const auto end = in(std::chrono::seconds(60));
    std::vector<Ended> ranks;
    for (Child& child : children) {
      ranks.push_back(child.wait(end));
      const std::string& text = ranks.back().err;
      if (tries < 5 && ranks.size() == 1 && text.find("in use") != std::string::npos) break;
    }
    if (ranks.size() == commands.size()) return ranks;
  }
}

Clock::time_point in(std::chrono::seconds seconds) {
  return Clock::now() + seconds;
}

std::string describe(const std::vector<Ended>& ranks) {
  std::string text;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const Ended& each = ranks[rank];
    text += "rank " + std::to_string(rank) + ": exit code " + std::to_string(each.exit_code) +
            ", signal " + std::to_string(each.signal) + (each.timed_out ? ", timed out" : "") +
            "\nstdout: " + each.out + "\nstderr: " + each.err + "\n";
  }
  return text;
}

}  // namespace ddp::test
