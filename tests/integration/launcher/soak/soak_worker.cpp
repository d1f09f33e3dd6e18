// A worker of the crash soak. Its words are the roles of all ranks; it plays that of its own:
//
// wait: waits until it is stopped.            ignore: the same, but no signal that asks stops it.
// rude: exits with 5 when it is asked.        family: waits, with a grandchild in its own session.
// stop: stops itself.                         daemon: the same, and that has no environment.
// end:US: exits with 0.                       orphan:US: the same, and leaves such a grandchild.
// exit:CODE:US, signal:NUMBER:US, abort:US: fails; in each attempt CODE is one more.
//
// US: microseconds until then. Every worker writes the port of its store into $SOAK_FOLDER/port.
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>

namespace {

constexpr int kStopSignals[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT};

void on_stop(void (*handler)(int)) {
  for (const int signo : kStopSignals) ::signal(signo, handler);
}

void be_rude(int) {
  ::_exit(5);
}

[[noreturn]] void wait_for_ever() {
  for (;;) ::pause();
}

void write_port() {
  const char* port = std::getenv("MASTER_PORT");
  const char* folder = std::getenv("SOAK_FOLDER");
  if (port == nullptr || folder == nullptr) return;
  const int fd = ::open((std::string(folder) + "/port").c_str(), O_WRONLY | O_CREAT, 0600);
  if (::write(fd, port, std::strlen(port)) < 0) ::_exit(99);
  ::close(fd);
}

// As daemons do it: the child in the middle is gone at once.
void leave_grandchild(bool with_environment) {
  if (::fork() != 0) return;
  ::setsid();
  if (::fork() != 0) ::_exit(0);
  if (with_environment) wait_for_ever();
  char name[] = "soak_worker", role[] = "linger";
  char* words[] = {name, role, nullptr};
  char* nothing[] = {nullptr};
  ::execve("/proc/self/exe", words, nothing);
  ::_exit(96);
}

// The number behind the last colon, and that between the first two.
int last_number(const std::string& role) {
  return std::atoi(role.c_str() + role.rfind(':') + 1);
}
int first_number(const std::string& role) {
  return std::atoi(role.c_str() + role.find(':') + 1);
}

int fail(const std::string& role) {
  ::usleep(static_cast<useconds_t>(last_number(role)));
  if (role.rfind("abort", 0) == 0) std::abort();
  const char* attempt = std::getenv("TORCHELASTIC_RESTART_COUNT");
  if (role.rfind("exit", 0) == 0)
    return first_number(role) + (attempt == nullptr ? 0 : std::atoi(attempt));
  ::raise(first_number(role));
  return 98;
}

int play(const std::string& role) {
  if (role == "ignore") on_stop(SIG_IGN);
  if (role == "rude") on_stop(be_rude);
  if (role == "stop") ::raise(SIGSTOP);
  if (role == "family" || role.rfind("orphan", 0) == 0) leave_grandchild(true);
  if (role == "daemon") leave_grandchild(false);
  if (role.find(':') == std::string::npos) wait_for_ever();
  if (role.rfind("end", 0) != 0 && role.rfind("orphan", 0) != 0) return fail(role);
  ::usleep(static_cast<useconds_t>(last_number(role)));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "linger") == 0) wait_for_ever();
  const char* rank = std::getenv("RANK");
  const int own = rank == nullptr ? -1 : std::atoi(rank);
  if (own < 0 || own + 1 >= argc) return 97;
  write_port();
  return play(argv[own + 1]);
}
