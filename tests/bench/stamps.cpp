#include "tests/bench/stamps.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <system_error>
#include <thread>

namespace ddprun::bench {
namespace {

std::vector<Life> once_complete(std::size_t count,
                                const std::function<std::vector<Life>()>& current) {
  const std::int64_t limit = now_ns() + 20'000'000'000;
  for (;;) {
    std::vector<Life> found = current();
    if (found.size() >= count) return found;
    if (now_ns() > limit)
      throw std::runtime_error("only " + std::to_string(found.size()) + " of " +
                               std::to_string(count) + " workers ran after 20 s");
    std::this_thread::sleep_for(std::chrono::microseconds(500));
  }
}

}  // namespace

Stamps::Stamps() : path_(std::filesystem::temp_directory_path() / "ddprun-bench-XXXXXX") {
  const int fd = ::mkstemp(path_.data());
  const bool made = fd >= 0 && ::ftruncate(fd, sizeof(StampPage)) == 0;
  const int error = errno;
  if (fd >= 0) ::close(fd);
  if (made) page_ = map_stamps(path_.c_str());
  if (page_ == nullptr) throw std::system_error(error, std::generic_category(), path_);
  ::setenv(kStampsVariable, path_.c_str(), 1);
}

Stamps::~Stamps() {
  ::unsetenv(kStampsVariable);
  ::munmap(page_, sizeof(StampPage));
  ::unlink(path_.c_str());
}

template <class Wanted>
std::vector<Life> Stamps::select(const Wanted& wanted) const {
  std::vector<Life> found;
  const int used = std::min(page_->used.load(), StampPage::kStamps);
  for (int i = 0; i < used; ++i) {
    const Stamp& stamp = page_->stamps[i];
    if (stamp.started != 0 && wanted(stamp))
      found.push_back({stamp.pid, stamp.started, stamp.ended});
  }
  return found;
}

std::vector<Life> Stamps::lives(int attempt) const {
  return select([attempt](const Stamp& stamp) { return stamp.attempt == attempt; });
}

std::vector<Life> Stamps::lives_after(std::int64_t time) const {
  return select([time](const Stamp& stamp) { return stamp.started > time; });
}

std::vector<Life> Stamps::wait_for(std::size_t count, int attempt) const {
  return once_complete(count, [this, attempt] { return lives(attempt); });
}

std::vector<Life> Stamps::wait_for_after(std::int64_t time, std::size_t count) const {
  return once_complete(count, [this, time] { return lives_after(time); });
}

std::int64_t last_start(const std::vector<Life>& lives) {
  std::int64_t last = 0;
  for (const Life& life : lives) last = std::max(last, life.started);
  return last;
}

std::int64_t last_end(const std::vector<Life>& lives) {
  std::int64_t last = 0;
  for (const Life& life : lives) last = std::max(last, life.ended);
  return last;
}

std::int64_t first_start(const std::vector<Life>& lives) {
  std::int64_t first = lives.empty() ? 0 : lives.front().started;
  for (const Life& life : lives) first = std::min(first, life.started);
  return first;
}

}  // namespace ddprun::bench
