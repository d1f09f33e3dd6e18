// The floor that ddprun is measured against: start N copies of a program, wait for each, end.
// Nothing can launch N processes and see them end with less work than this.
//
// usage: spawn_floor N PROGRAM [arguments]
#include <spawn.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

extern char** environ;

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: spawn_floor N PROGRAM [arguments]\n");
    return 2;
  }
  std::vector<pid_t> children(std::strtoul(argv[1], nullptr, 10));
  for (pid_t& child : children) {
    if (const int error = posix_spawn(&child, argv[2], nullptr, nullptr, argv + 2, environ)) {
      std::fprintf(stderr, "spawn_floor: cannot start %s: %s\n", argv[2], std::strerror(error));
      return 1;
    }
  }
  int failures = 0;
  for (const pid_t child : children) {
    int status = 0;
    if (waitpid(child, &status, 0) != child || status != 0) ++failures;
  }
  return failures == 0 ? 0 : 1;
}
