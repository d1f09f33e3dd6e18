// Becomes a Redis that keeps everything in memory:
//
//   redis_store PROGRAM
//
// PROGRAM is Redis's server. Prints its port on 127.0.0.1 once it takes connections, or why it
// cannot be started.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

namespace {

// Of a socket that is bound to `port`, or connected to it.
int socket_at(std::uint16_t port, int (*attach)(int, const sockaddr*, socklen_t)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (attach(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) return fd;
  ::close(fd);
  return -1;
}

// Redis takes no port from the system by itself.
std::uint16_t unused_port() {
  const int fd = socket_at(0, ::bind);
  sockaddr_in address{};
  socklen_t size = sizeof address;
  ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
  ::close(fd);
  return ntohs(address.sin_port);
}

// In a process of its own, as long as Redis lives and is silent.
void announce_when_it_listens(std::uint16_t port) {
  const pid_t redis = ::getpid();
  if (::fork() != 0) return;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  while (::getppid() == redis) {
    const int fd = socket_at(port, ::connect);
    if (fd >= 0) {
      std::printf("%d\n", port);
      std::fflush(stdout);
      ::_exit(0);
    }
    ::poll(nullptr, 0, 2);
  }
  ::_exit(0);
}

void allow_files() {
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &files);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::printf("usage: redis_store PROGRAM\n");
    return 2;
  }
  const std::uint16_t port = unused_port();
  announce_when_it_listens(port);
  allow_files();
  const int line = ::fcntl(1, F_DUPFD_CLOEXEC, 3);
  ::dup2(2, 1);  // what it says is not for the one who waits for the port
  ::execl(argv[1], "redis-server", "--port", std::to_string(port).c_str(), "--bind", "127.0.0.1",
          "--save", "", "--appendonly", "no", "--maxclients", "15000", "--tcp-backlog", "4096",
          "--loglevel", "warning", nullptr);
  ::dprintf(line, "cannot start %s: %s\n", argv[1], std::strerror(errno));
  return 1;
}
