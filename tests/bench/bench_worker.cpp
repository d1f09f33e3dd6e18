// The workers of the benchmark. Each stamps its start; its first word says what it then does:
//
// end: ends with 0.
// silent: waits; ends at once on SIGTERM and stamps that end.
// lines COUNT: writes COUNT lines of 69 bytes through stdio, as a C++ program does.
// clock COUNT: writes COUNT lines, one each 2 ms, that hold the time at which they were written.
//
// Linked statically, so that its own start does not hide what is measured.
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/bench/stamps.h"

namespace {

using namespace ddprun::bench;

Stamp* own_stamp = nullptr;

void end_cooperatively(int) {
  if (own_stamp != nullptr) own_stamp->ended = now_ns();
  ::_exit(0);
}

int stay_silent() {
  for (;;) ::pause();
}

int write_lines(long count) {
  char line[70];
  std::memset(line, '.', sizeof line);
  line[68] = '\n';
  for (long i = 0; i < count; ++i) {
    const int digits = std::snprintf(line, 24, "step %ld loss 0.", i);
    line[digits] = '5';
    if (std::fwrite(line, 1, 69, stdout) != 69) return 1;
  }
  return std::fflush(stdout) == 0 ? 0 : 1;
}

int write_clock(long count) {
  for (long i = 0; i < count; ++i) {
    ::usleep(2000);
    char line[32];
    const int size = std::snprintf(line, sizeof line, "%" PRId64 "\n", now_ns());
    if (::write(STDOUT_FILENO, line, static_cast<std::size_t>(size)) != size) return 1;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  const long count = argc > 2 ? std::atol(argv[2]) : 0;
  if (std::strcmp(what, "silent") == 0) {
    ::prctl(PR_SET_PDEATHSIG,
            SIGKILL);  // not every launcher that is killed takes its workers along
    ::signal(SIGTERM, end_cooperatively);
  }
  own_stamp = stamp_start();
  if (std::strcmp(what, "end") == 0) return 0;
  if (std::strcmp(what, "silent") == 0) return stay_silent();
  if (std::strcmp(what, "lines") == 0) return write_lines(count);
  if (std::strcmp(what, "clock") == 0) return write_clock(count);
  std::fprintf(stderr, "bench_worker: unknown use '%s'\n", what);
  return 2;
}
