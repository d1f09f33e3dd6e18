// A second floor for ddprun: the same start with ddprun's duties and nothing else. A guardian,
// whose child launches and who would end all that is left; for each worker a process group, the
// parent-death signal, a pidfd, two pipes and twenty variables of its own; one epoll for all. No
// option, no plan, no message, no check of what cannot happen here.
//
// usage: spawn_duties N PROGRAM [arguments]
#include <fcntl.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

extern char** environ;

namespace {

struct Worker {
  pid_t pid = 0;
  int pidfd = -1, out = -1, err = -1;
};

enum class Source : std::uint64_t { pidfd, out, err };

// Variables of a worker, in memory that its exec copies.
class Environment {
 public:
  Environment() {
    for (char** entry = environ; *entry != nullptr; ++entry) entries_.push_back(*entry);
    for (auto& text : texts_) entries_.push_back(text.data());
    entries_.push_back(nullptr);
  }
  char** of(int worker) {
    for (std::size_t i = 0; i < texts_.size(); ++i)
      std::snprintf(texts_[i].data(), texts_[i].size(), "A_VARIABLE_OF_THE_WORKER_%zu=%d", i,
                    worker);
    return entries_.data();
  }

 private:
  std::array<std::array<char, 64>, 20> texts_;
  std::vector<char*> entries_;
};

[[noreturn]] void become(char** argv, char** env, int out, int err, pid_t launcher) {
  ::setsid();
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != launcher) ::_exit(127);
  ::dup2(out, 1);
  ::dup2(err, 2);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::execve(argv[0], argv, env);
  ::_exit(127);
}

[[gnu::noinline]] Worker start(char** argv, char** env, pid_t launcher) {
  std::array<int, 2> out, err;
  if (::pipe2(out.data(), O_CLOEXEC) != 0 || ::pipe2(err.data(), O_CLOEXEC) != 0) std::exit(1);
  const pid_t pid = ::vfork();
  if (pid == 0) become(argv, env, out[1], err[1], launcher);
  if (pid < 0) std::exit(1);
  ::close(out[1]);
  ::close(err[1]);
  return {pid, static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)), out[0], err[0]};
}

void watch(int epoll, int fd, std::uint64_t worker, Source source) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = worker << 2 | static_cast<std::uint64_t>(source);
  ::epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
}

// Returns whether the stream has ended.
bool pass_on(int from, int to) {
  static std::array<char, 65536> buffer;
  const ssize_t size = ::read(from, buffer.data(), buffer.size());
  return size <= 0 || ::write(to, buffer.data(), static_cast<std::size_t>(size)) != size;
}

void allow_files() {
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &files);
}

int signals_to_end() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signo : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&signals, signo);
  ::sigprocmask(SIG_BLOCK, &signals, nullptr);
  return ::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
}

class Launcher {
 public:
  Launcher(std::size_t count, char** argv)
      : workers_(count), epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
    watch(epoll_, signals_to_end(), count, Source::pidfd);
    Environment environment;
    for (std::size_t i = 0; i < count; ++i) {
      workers_[i] = start(argv, environment.of(static_cast<int>(i)), ::getpid());
      watch(epoll_, workers_[i].pidfd, i, Source::pidfd);
      watch(epoll_, workers_[i].out, i, Source::out);
      watch(epoll_, workers_[i].err, i, Source::err);
    }
  }

  int wait_for_all() {
    std::array<epoll_event, 256> events;
    for (std::size_t open = 3 * workers_.size(); open > 0;) {
      const int ready = ::epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), -1);
      for (int i = 0; i < ready; ++i)
        if (has_closed(events[static_cast<std::size_t>(i)].data.u64)) --open;
    }
    return failed_ ? 1 : 0;
  }

 private:
  bool has_closed(std::uint64_t event) {
    if (event >> 2 == workers_.size()) ::_exit(1);  // a signal
    const Worker& worker = workers_[event >> 2];
    switch (static_cast<Source>(event & 3)) {
      case Source::out:
        return pass_on(worker.out, 1) && close(worker.out);
      case Source::err:
        return pass_on(worker.err, 2) && close(worker.err);
      case Source::pidfd:
        break;
    }
    siginfo_t info{};
    ::waitid(P_PIDFD, static_cast<id_t>(worker.pidfd), &info, WEXITED);
    failed_ = failed_ || info.si_status != 0;
    return close(worker.pidfd);
  }

  // A worker whose exec is not quite done still has a copy, for which epoll would go on.
  bool close(int fd) const {
    ::epoll_ctl(epoll_, EPOLL_CTL_DEL, fd, nullptr);
    return ::close(fd) == 0;
  }

  std::vector<Worker> workers_;
  int epoll_;
  bool failed_ = false;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: spawn_duties N PROGRAM [arguments]\n");
    return 2;
  }
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  const pid_t launcher = ::fork();
  if (launcher == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    allow_files();
    ::_exit(Launcher(std::strtoul(argv[1], nullptr, 10), argv + 2).wait_for_all());
  }
  int status = 0;
  ::waitpid(launcher, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
