#include "tests/bench/announcer.h"

#include <sys/wait.h>

#include <chrono>
#include <fstream>
#include <stdexcept>
#include <thread>

#include "tests/bench/stamps.h"

namespace ddprun::bench {
namespace {

// Empty until it is whole.
std::string whole_line(const std::string& file) {
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  return stream.eof() ? "" : line;
}

bool has_ended(pid_t pid) {
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         info.si_pid == pid;
}

}  // namespace

Announcer::Announcer(const Words& command, int seconds) : process_(command, folder_ / "line") {
  const std::int64_t limit = now_ns() + seconds * std::int64_t{1'000'000'000};
  while (line_.empty()) {
    const bool ended = has_ended(pid());  // before the look, or its last words could be missed
    line_ = whole_line(folder_ / "line");
    if (!line_.empty()) return;
    if (ended) throw std::runtime_error(command.front() + " ended without a word");
    if (now_ns() > limit)
      throw std::runtime_error(command.front() + " said nothing for " + std::to_string(seconds) +
                               " s");
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

double Announcer::number() const {
  const std::string text = line_.substr(line_.rfind(':') + 1);
  std::size_t used = 0;
  try {
    const double value = std::stod(text, &used);
    if (used == text.size()) return value;
  } catch (const std::logic_error&) {
  }
  throw std::runtime_error(line_);
}

}  // namespace ddprun::bench
