#include "worker_sdk/src/store.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <system_error>
#include <torch/csrc/distributed/c10d/FileStore.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "worker_sdk/src/compat.h"
#include "worker_sdk/src/store_probe.h"
#include "worker_sdk/src/text.h"
#include "worker_sdk/src/translate.h"

namespace ddp::detail {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

std::string address_of(const WorkerEnvironment& environment) {
  return environment.master_addr + ":" + std::to_string(environment.master_port);
}

// Returns how long it took.
milliseconds wait_until_reachable(const WorkerEnvironment& environment, milliseconds timeout) {
  const auto begin = steady_clock::now();
  const auto reason = wait_for_server(
      environment.master_addr, environment.master_port, timeout, [&](const std::string& so_far) {
        std::fprintf(stderr, "[rank %d] still waiting for the store at %s: %s\n", environment.rank,
                     address_of(environment).c_str(), so_far.c_str());
      });
  const auto waited = std::chrono::duration_cast<milliseconds>(steady_clock::now() - begin);
  if (!reason) return waited;
  throw Error(environment.rank,
              "init_process_group: the store at " + address_of(environment) +
                  " could not be reached in " + seconds(waited) + ": " + *reason + ". " +
                  (environment.agent_store
                       ? std::string("The launcher hosts it: is it still running?")
                       : std::string("Rank 0 hosts it: is it running, and is ") +
                             (environment.from_url ? "that" : "MASTER_ADDR") + " its host?"));
}

c10::intrusive_ptr<c10d::Store> make_store(const WorkerEnvironment& environment,
                                           c10d::TCPStoreOptions options) {
  const char* wish = std::getenv("USE_LIBUV");
  if (wish && std::string(wish) == "0") compat::set_use_libuv(options, false);
  try {
    return c10::make_intrusive<c10d::TCPStore>(environment.master_addr, options);
  } catch (const std::exception& error) {
    const std::string reason = error.what();
    if (reason.find("ddress already in use") != std::string::npos) {
      throw std::runtime_error(
          environment.from_url
              ? "the port is in use; choose another in init_method, on all ranks"
              : "the port is in use; choose another MASTER_PORT, or a launcher that does");
    }
    if (reason.find("without libuv") == std::string::npos) throw;
    compat::set_use_libuv(options, false);
    return c10::make_intrusive<c10d::TCPStore>(environment.master_addr, options);
  }
}

// A FileStore begins with the length of a key, in four bytes, and the key. LibTorch would read any
// other file for ever.
bool begins_like_a_store(int fd) {
  ::flock(fd, LOCK_SH);  // a rank that writes has locked it
  std::uint32_t length = 0;
  const ssize_t got = ::pread(fd, &length, sizeof length, 0);
  struct stat found {};
  const bool known = ::fstat(fd, &found) == 0;
  ::flock(fd, LOCK_UN);
  return got == 0 || (got == sizeof length && known && length <= found.st_size);
}

// Empty, or why no store can be kept in the file, which is made. LibTorch would try to open it for
// ever.
std::string why_no_store_in(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0) return std::generic_category().message(errno);
  struct stat found {};
  const bool plain = ::fstat(fd, &found) == 0 && S_ISREG(found.st_mode);
  const bool store = plain && begins_like_a_store(fd);
  ::close(fd);
  if (store) return "";
  return plain ? "it holds something else; name a file that is not there yet"
               : "it is no plain file";
}

// LibTorch would try for the whole time-out to open a file in a directory that is not there.
c10::intrusive_ptr<c10d::Store> open_file_store(const WorkerEnvironment& environment,
                                                milliseconds timeout) {
  const std::string what = "init_process_group: the store's file " + environment.store_file;
  const auto directory = std::filesystem::path(environment.store_file).parent_path();
  if (!std::filesystem::is_directory(directory)) {
    throw Error(environment.rank, what + ": there is no directory " + directory.string() +
                                      "; every rank must be able to write there");
  }
  const std::string why_not = why_no_store_in(environment.store_file);
  if (!why_not.empty()) throw Error(environment.rank, what + ": " + why_not);
  return translated(environment.rank, what, [&]() -> c10::intrusive_ptr<c10d::Store> {
    auto store =
        c10::make_intrusive<c10d::FileStore>(environment.store_file, environment.world_size);
    store->setTimeout(timeout);
    return store;
  });
}

}  // namespace

c10::intrusive_ptr<c10d::Store> open_store(const WorkerEnvironment& environment,
                                           milliseconds timeout) {
  if (!environment.store_file.empty()) return open_file_store(environment, timeout);
  c10d::TCPStoreOptions options;
  options.port = environment.master_port;
  options.isServer = !environment.agent_store && environment.rank == 0;
  options.multiTenant = !environment.agent_store;
  options.timeout = timeout;
  // A Python rank 0 that hosts the store counts the others. A host of ours does not: Gloo waits for
  // all ranks anyhow, and then it can be said which of them did not come.
  options.numWorkers = static_cast<std::size_t>(environment.world_size);
  options.waitWorkers = !options.isServer;
  if (!options.isServer) {
    options.timeout =
        std::max(timeout - wait_until_reachable(environment, timeout), milliseconds{1'000});
  }
  const std::string what = std::string("init_process_group: ") +
                           (options.isServer ? "hosting" : "connecting to") + " the store at " +
                           address_of(environment);
  auto store = translated(environment.rank, what, [&] { return make_store(environment, options); });
  store->setTimeout(timeout);
  return store;
}

HostedStore host_store() {
  const int rank = rank_if_known(process_environment());
  return translated(rank, "spawn: hosting a store", [&]() -> HostedStore {
    WorkerEnvironment environment;
    environment.master_addr = "127.0.0.1";
    c10d::TCPStoreOptions options;
    options.port = 0;
    options.isServer = true;
    options.waitWorkers = false;
    const auto store = make_store(environment, options);
    return {store, static_cast<c10d::TCPStore&>(*store).getPort()};
  });
}

}  // namespace ddp::detail
