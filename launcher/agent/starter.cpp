#include "launcher/agent/starter.h"

#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>

#include <cerrno>
#include <utility>

#include "launcher/agent/placed.h"
#include "launcher/plan/command.h"
#include "launcher/process/exit_codes.h"

namespace ddprun::agent {
namespace {

static_assert(plan::kProgressDescriptor == process::kExtraDescriptor);

std::string advice_on_descriptors() {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  return "; ddprun may open " + std::to_string(limit.rlim_max) +
         " descriptors and needs 3 for each worker, so raise the limit (ulimit -Hn)";
}

}  // namespace

Starter::Starter(const JobParts& parts, const plan::Meeting& meeting)
    : parts_(parts),
      attempt_(meeting.round),
      environment_(parts.job.plan, meeting, parts.job.environment),
      null_(::open("/dev/null", O_RDONLY | O_CLOEXEC)) {}

boost::system::result<pid_t, StartFailure> Starter::start(Workers& workers, int local_rank,
                                                          UniqueFd progress) {
  const plan::WorkerPlan& worker = parts_.job.plan.worker(local_rank);
  std::vector<std::string> argv = plan::command_line(worker, parts_.job.host, attempt_);
  const process::ProgramFile& program = parts_.programs.find(argv.front());
  if (program.error != 0)
    return StartFailure{process::SpawnStep::exec, program.error, {}, local_rank};
  if (const auto made = parts_.directory.make_worker_directory(attempt_, worker.rank); !made)
    return StartFailure{{}, errno, made.error().text};
  auto streams =
      parts_.output.open({.rank = worker.rank,
                          .local_rank = local_rank,
                          .attempt = attempt_,
                          .directory = parts_.directory.worker_path(attempt_, worker.rank)});
  if (!streams) return StartFailure{{}, errno, streams.error().text};
  const auto placement = placement_of(worker);
  process::SpawnRequest request{
      .path = program.path,
      .argv = std::move(argv),
      .env = environment_.own(worker, parts_.directory.error_file(attempt_, worker.rank)),
      .shared_env = &environment_.shared(),
      .in = null_.get(),
      .out = streams->out.get(),
      .err = streams->err.get(),
      .extra = progress.get(),
      .placement = placement ? &*placement : nullptr,
      .directory = parts_.programs.directory()};
  parts_.stdin_rank.prepare(worker, request);
  process::PlacementErrors refused;
  const auto pid = workers.start(local_rank, request, parts_.spawn, &refused);
  if (!pid) return StartFailure{pid.error().step, pid.error().error, {}, local_rank};
  if (placement) warn_once(refusal_text(worker, refused));
  parts_.stdin_rank.on_started(worker, *pid);
  return *pid;
}

void Starter::warn_once(const std::string& refusal) {
  if (refusal.empty() || refusal_told_) return;
  refusal_told_ = true;
  if (parts_.job.spec.verbosity != cli::Verbosity::quiet) parts_.output.note("ddprun: " + refusal);
}

report::ExecFailure Starter::explain(const StartFailure& failure) const {
  const auto& worker = parts_.job.plan.worker(failure.local_rank);
  if (failure.step == process::SpawnStep::exec)
    return parts_.programs.explain(
        worker, plan::command_line(worker, parts_.job.host, attempt_).front(), failure.error);
  std::string text = "cannot start a worker: ";
  text += failure.step
              ? std::string(process::call_of(*failure.step)) + ": " + ::strerror(failure.error)
              : failure.text;
  if (failure.error == EMFILE || failure.error == ENFILE) text += advice_on_descriptors();
  return {process::kExitCannotWork, text};
}

}  // namespace ddprun::agent
