#include "tests/bench/line_delay.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "tests/bench/measurement.h"
#include "tests/bench/stamps.h"
#include "tests/support/temporary_folder.h"

namespace ddprun::bench {
namespace {

constexpr int kPatienceMs = 20'000;

// The time at the end of a line, behind whatever prefix it bears.
std::int64_t time_in(const std::string& line) {
  const std::size_t before = line.find_last_not_of("0123456789");
  return std::atoll(line.c_str() + (before == std::string::npos ? 0 : before + 1));
}

std::vector<double> read_delays(int fd, std::size_t lines) {
  std::vector<double> delays;
  std::string text;
  while (delays.size() < lines) {
    pollfd readable{fd, POLLIN, 0};
    char buffer[4096];
    if (::poll(&readable, 1, kPatienceMs) != 1)
      throw std::runtime_error("only " + std::to_string(delays.size()) + " lines came");
    const ssize_t got = ::read(fd, buffer, sizeof buffer);
    const std::int64_t now = now_ns();
    text.append(buffer, static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    for (std::size_t end; (end = text.find('\n')) != std::string::npos; text.erase(0, end + 1))
      delays.push_back(milliseconds(time_in(text.substr(0, end)), now));
  }
  return delays;
}

}  // namespace

double median_line_delay(const Words& command, int lines) {
  const test::TemporaryFolder folder;
  const std::string console = folder / "console";
  if (::mkfifo(console.c_str(), 0600) != 0) throw std::runtime_error("cannot make " + console);
  // Open for both, so that the program's own opening waits for nobody.
  const int fd = ::open(console.c_str(), O_RDWR | O_CLOEXEC);
  if (fd < 0) throw std::runtime_error("cannot open " + console);
  ObservedProcess process(command, console);
  const auto delays = read_delays(fd, static_cast<std::size_t>(lines));
  expect_code(process.wait(), 0, command);
  ::close(fd);
  return percentile(delays, 50);
}

}  // namespace ddprun::bench
