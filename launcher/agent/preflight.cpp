#include "launcher/agent/preflight.h"

#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <cstdlib>
#include <filesystem>

#include "launcher/agent/run_directory.h"
#include "launcher/agent/store_host.h"
#include "launcher/report/output_file.h"

namespace ddprun::agent {
namespace {

namespace fs = std::filesystem;

// Making a missing base would leave it behind, so it is only made where that has to fail.
bool can_be_made(const fs::path& base) {
  std::error_code ignored;
  fs::path above = base;
  while (!fs::exists(fs::symlink_status(above, ignored)) && above.has_parent_path() &&
         above != above.parent_path())
    above = above.parent_path();
  return above != base && fs::is_directory(above, ignored) &&
         ::access(above.c_str(), W_OK | X_OK) == 0;
}

std::optional<Error> no_directory(const cli::JobSpec& spec) {
  if (spec.log_dir == "/dev/null") return std::nullopt;
  const LogBase base = log_base(spec.log_dir, std::getenv("TMPDIR"));
  if (can_be_made(base.path)) return std::nullopt;
  const auto made = RunDirectory::create(base, spec.run_id.value_or("dry_run"));
  if (made) return std::nullopt;
  return made.error();
}

}  // namespace

std::optional<Error> cannot_begin(const cli::JobSpec& spec) {
  if (spec.events && *spec.events != "-")
    if (auto writable = report::check_appendable("--events", *spec.events); !writable)
      return writable.error();
  boost::asio::io_context io{1};
  const auto listening = StoreHost::try_to_listen(io, spec);
  if (!listening) return listening.error();
  return no_directory(spec);
}

}  // namespace ddprun::agent
