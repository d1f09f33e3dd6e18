#include "launcher/agent/log_setup.h"

#include <cstdlib>

namespace ddprun::agent {
namespace {

constexpr const char* kNoFiles = "/dev/null";

output::Routing routing(const cli::JobSpec& spec) {
  return {.redirects = spec.redirects,
          .tee = spec.tee,
          .console_ranks = spec.console_ranks,
          .files = spec.log_dir != kNoFiles,
          .mode = spec.output};
}

}  // namespace

output::Options output_options(const Job& job) {
  output::Options options;
  options.local_workers = static_cast<int>(job.plan.workers.size());
  options.world_size = job.plan.world_size;
  options.no_color = std::getenv("NO_COLOR");
  options.term = std::getenv("TERM");
  options.routing = routing(job.spec);
  options.prefix = job.spec.prefix;
  options.prefix_where_usual = job.spec.prefix_where_usual;
  options.stdout_filters = job.spec.duplicate_stdout_filters;
  options.stderr_filters = job.spec.duplicate_stderr_filters;
  options.color = job.spec.color;
  options.role_name = job.plan.role;
  options.hostname = job.host;
  return options;
}

Result<RunDirectory> make_run_directory(const Job& job, const std::string& run_id,
                                        const std::string& shared_name, output::Output& output) {
  if (job.spec.log_dir == kNoFiles) return RunDirectory::none();
  const LogBase base = log_base(job.spec.log_dir, std::getenv("TMPDIR"));
  auto directory = shared_name.empty() ? RunDirectory::create(base, run_id)
                                       : RunDirectory::share(base, shared_name);
  if (!directory || !output.keeps_files()) return directory;
  directory->keep();
  if (const auto linked = directory->link_latest(); !linked)
    output.note("ddprun: " + linked.error().text);
  return directory;
}

}  // namespace ddprun::agent
