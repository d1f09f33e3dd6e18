#include "ddp/spawn.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <system_error>

#include "ddp/error.h"
#include "worker_sdk/src/failure.h"
#include "worker_sdk/src/spawn_environment.h"
#include "worker_sdk/src/spawn_order.h"
#include "worker_sdk/src/spawned_processes.h"
#include "worker_sdk/src/store.h"
#include "worker_sdk/src/translate.h"

namespace ddp {
namespace detail {
namespace {

struct Registry {
  std::map<std::string, WorkerEntry> workers;
  std::set<std::string> twice;
};

// Made at the first use: workers register before main, in any order.
Registry& registry() {
  static Registry all;
  return all;
}

// The rank, and the worker, that this process was started for.
struct Spawned {
  int rank;
  std::string worker;
};
std::optional<Spawned>& spawned() {
  static std::optional<Spawned> self;
  return self;
}

// Empty if there is just one worker of this name.
std::string problem_with_name(const std::string& name) {
  if (registry().twice.contains(name)) return "two workers are registered as '" + name + "'";
  if (registry().workers.contains(name)) return "";
  std::string known;
  for (const auto& [each, entry] : registry().workers) known += (known.empty() ? "" : ", ") + each;
  return "no worker is registered as '" + name + "' when main begins (there is " +
         (known.empty() ? "none" : known) +
         "): make its ddp::SpawnWorker at namespace scope, in the program itself";
}

void check(const SpawnOptions& options, const SpawnOrder& order) {
  const Lookup lookup = process_environment();
  const int rank = rank_if_known(lookup);
  if (const auto& self = spawned()) {
    throw Error(self->rank, "spawn: called inside the spawned worker '" + self->worker +
                                "'; only the program that was started by hand may spawn");
  }
  if (read_ticket(lookup, ::getppid())) {
    throw Error(rank,
                "spawn: called in a process that spawn has started: main must begin with "
                "ddp::run_if_spawned()");
  }
  if (options.nprocs < 1) {
    throw Error(rank, "spawn: nprocs is " + std::to_string(options.nprocs) +
                          "; expected at least 1 process");
  }
  const std::string wrong_name = problem_with_name(order.worker);
  if (!wrong_name.empty()) throw Error(rank, "spawn: " + wrong_name);
  const std::string wrong = registry().workers.at(order.worker).problem_with(order.arguments);
  if (!wrong.empty()) throw Error(rank, "spawn: worker '" + order.worker + "': " + wrong);
  struct sigaction on_child {};
  ::sigaction(SIGCHLD, nullptr, &on_child);
  if (on_child.sa_handler == SIG_IGN || (on_child.sa_flags & SA_NOCLDWAIT) != 0) {
    throw Error(rank,
                "spawn: the program ignores SIGCHLD, so that nobody can learn how the "
                "processes end; set it to SIG_DFL first");
  }
}

std::vector<std::string> own_environment() {
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) all.emplace_back(*entry);
  return all;
}

int own_cpus() {
  cpu_set_t set;
  return ::sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

std::string read_order(int fd) {
  struct stat status {};
  std::string bytes;
  if (::fstat(fd, &status) == 0) bytes.resize(static_cast<std::size_t>(status.st_size));
  // The place in the file is shared by all workers.
  if (::pread(fd, bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    throw std::system_error(errno, std::generic_category(), "reading the order of spawn");
  }
  ::close(fd);
  return bytes;
}

void answer(int fd, const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const auto size = ::write(fd, text.data() + done, text.size() - done);
    if (size < 0 && errno != EINTR) return;  // the parent is gone, and then so is this process
    done += static_cast<std::size_t>(std::max<ssize_t>(size, 0));
  }
}

std::int64_t now() {
  return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void run_worker(const SpawnTicket& ticket) {
  const SpawnOrder order = decode(read_order(ticket.order_fd));
  spawned() = Spawned{ticket.rank, order.worker};
  const std::string wrong = problem_with_name(order.worker);
  if (!wrong.empty()) throw Error(-1, "spawn: " + wrong);
  answer(ticket.answer_fd, {kStarted});
  const WorkerEntry& worker = registry().workers.at(order.worker);
  worker.run(worker.function, ticket.rank, order.arguments);
}

}  // namespace

void register_worker(const std::string& name, const WorkerEntry& entry) {
  if (!registry().workers.emplace(name, entry).second) registry().twice.insert(name);
}

void spawn(const SpawnOptions& options, const std::string& name,
           const std::vector<SpawnValue>& arguments) {
  const SpawnOrder order{name, arguments};
  check(options, order);
  const HostedStore store = host_store();
  const SpawnRequest request{.nprocs = options.nprocs,
                             .order = encode(order),
                             .environment =
                                 [&](int rank) {
                                   return spawn_environment(
                                       own_environment(),
                                       {rank, options.nprocs, store.port, own_cpus()});
                                 },
                             .grace = options.grace};
  const auto failure =
      translated(rank_if_known(process_environment()),
                 "spawn: starting " + std::to_string(options.nprocs) + " processes",
                 [&] { return run_processes(request); });
  if (failure) throw Error(failure->rank, "spawn: worker '" + name + "' " + failure->how);
}

}  // namespace detail

void run_if_spawned() {
  const auto ticket = detail::read_ticket(detail::process_environment(), ::getppid());
  if (!ticket) return;
  // Nothing that the worker starts is a worker itself.
  ::unsetenv(detail::kSpawnVariable);
  ::fcntl(ticket->order_fd, F_SETFD, FD_CLOEXEC);
  ::fcntl(ticket->answer_fd, F_SETFD, FD_CLOEXEC);
  std::optional<detail::Failure> failure;
  try {
    detail::run_worker(*ticket);
  } catch (...) {
    failure = detail::current_failure();
    detail::answer(ticket->answer_fd,
                   detail::to_text(detail::SpawnReason{detail::now(), failure->message}));
  }
  // The parent need not wait for the store, nor for destructors of static objects, to hear of it.
  ::close(ticket->answer_fd);
  if (failure) detail::tell_peers(*failure);
  std::exit(failure ? 1 : 0);
}

}  // namespace ddp
