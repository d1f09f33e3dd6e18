// Runs a program as on a machine with another name service.
//
//   names none PROGRAM ARGUMENTS…        there is no name server: /etc/hosts is all
//   names silent PROGRAM ARGUMENTS…      the name server never answers
//   names MILLISECONDS PROGRAM ARGUMENTS…  it answers after so long, that it knows no such name
//
// The program has files of its own in the place of /etc/resolv.conf and /etc/nsswitch.conf, in a
// mount namespace; the name server that they name is a socket on loopback. A name server's port
// needs root. Prints why it cannot.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <system_error>

namespace {

void check(bool succeeded, const char* what) {
  if (!succeeded) throw std::system_error(errno, std::generic_category(), what);
}

void enter_namespace() {
  if (::unshare(CLONE_NEWNS) != 0) check(::unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0, "unshare");
  check(::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0, "mount");
}

void replace(const char* file, const std::string& text) {
  char path[] = "/tmp/ddprun-bench-XXXXXX";
  const int fd = ::mkostemp(path, O_CLOEXEC);
  check(fd >= 0 && ::fchmod(fd, 0644) == 0 &&
            ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size()),
        path);
  const bool mounted = ::mount(path, file, nullptr, MS_BIND, nullptr) == 0;
  const int error = errno;
  ::unlink(path);
  ::close(fd);
  errno = error;
  check(mounted, file);
}

// Of this process only: an earlier one may still be about to end.
std::string own_address() {
  const auto pid = static_cast<unsigned>(::getpid());
  return "127." + std::to_string(128 + (pid >> 16)) + "." + std::to_string(pid >> 8 & 255) + "." +
         std::to_string(pid & 255);
}

int listen_to_questions() {
  const int fd = ::socket(AF_INET, SOCK_DGRAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(53);
  ::inet_pton(AF_INET, own_address().c_str(), &address.sin_addr);
  check(::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0, "bind");
  return fd;
}

// One question after the other; the answer is the question with other flags.
[[noreturn]] void answer_after(int milliseconds, int fd) {
  for (;;) {
    unsigned char message[512];
    sockaddr_storage asker{};
    socklen_t size = sizeof asker;
    auto* generic = reinterpret_cast<sockaddr*>(&asker);
    const ssize_t length = ::recvfrom(fd, message, sizeof message, 0, generic, &size);
    if (length < 12) continue;
    ::usleep(static_cast<useconds_t>(milliseconds) * 1000);
    message[2] = 0x81;  // a response
    message[3] = 0x83;  // no such name
    ::sendto(fd, message, static_cast<std::size_t>(length), 0, generic, size);
  }
}

// The socket stays open in the program, so a silent server lives as long as that.
void serve_names(const std::string& how) {
  const int fd = listen_to_questions();
  if (how == "silent") return;
  const int milliseconds = std::stoi(how);
  const pid_t program = ::getpid();
  const pid_t server = ::fork();
  check(server >= 0, "fork");
  if (server != 0) return;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != program) ::_exit(0);
  answer_after(milliseconds, fd);
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 3) throw std::invalid_argument("usage: names none|silent|MILLISECONDS PROGRAM…");
  const std::string how = argv[1];
  enter_namespace();
  if (how != "none") serve_names(how);
  replace("/etc/resolv.conf", "nameserver " + own_address() + "\n");
  replace("/etc/nsswitch.conf", how == "none" ? "hosts: files\n" : "hosts: files dns\n");
  ::execv(argv[2], argv + 2);
  throw std::system_error(errno, std::generic_category(), argv[2]);
} catch (const std::exception& error) {
  std::printf("%s\n", error.what());
  return 1;
}
