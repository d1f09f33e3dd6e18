#include "worker_sdk/src/checkpoint_file.h"

#include <c10/util/Exception.h>

#include <new>
#include <system_error>

#include "ddp/error.h"
#include "ddp/process_group.h"
#include "worker_sdk/src/worker_environment.h"

namespace ddp::detail {
namespace {

// Calls `action`. `failed` is "WHAT: PATH cannot be read", which some exceptions say themselves.
template <class Action>
void named(const std::string& what, const std::string& failed, Action&& action) {
  try {
    action();
  } catch (const Error&) {
    throw;
  } catch (const std::system_error& error) {
    throw Error(rank_for_messages(), what + ": " + error.what());
  } catch (const c10::Error& error) {
    throw Error(rank_for_messages(), failed + ": " + error.what_without_backtrace());
  } catch (const std::bad_alloc&) {
    throw Error(rank_for_messages(), failed + ": there is not enough memory");
  } catch (const std::exception& error) {
    throw Error(rank_for_messages(), failed + ": " + error.what());
  }
}

void refuse_empty(const std::string& what, const std::string& path) {
  if (path.empty()) throw Error(rank_for_messages(), what + ": the path is empty");
}

}  // namespace

int rank_for_messages() {
  return is_initialized() ? get_rank() : rank_if_known(process_environment());
}

void read_file(const std::string& what, const std::string& path,
               const std::function<void(ByteSource&)>& read) {
  refuse_empty(what, path);
  named(what, what + ": " + path + " cannot be read", [&] {
    FileSource file(path);
    read(file);
  });
}

void write_file(const std::string& what, const std::string& path,
                const std::function<void(ByteSink&)>& write) {
  refuse_empty(what, path);
  named(what, what + ": " + path + " cannot be written", [&] {
    AtomicFile file(path);
    write(file);
    file.commit();
  });
}

}  // namespace ddp::detail
