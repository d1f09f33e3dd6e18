#include "launcher/agent/verdicts.h"

namespace ddprun::agent {
namespace {

using Kind = protocol::Cause::Kind;

std::string name_of(Kind kind) {
  switch (kind) {
    case Kind::worker_failed:
      return "worker_failed";
    case Kind::node_lost:
    case Kind::misused:
      return "node_lost";
    case Kind::node_left:
      return "node_left";
    case Kind::cancelled:
      return "cancelled";
    case Kind::timed_out:
    case Kind::node_joined:
      break;
  }
  return "ended_elsewhere";
}

std::optional<report::RemoteCause::Worker> worker_of(const protocol::Cause& cause) {
  if (cause.kind != Kind::worker_failed || !cause.rank) return {};
  using Ended = supervise::WaitStatus::Kind;
  const supervise::WaitStatus status =
      cause.signal ? supervise::WaitStatus{.kind = Ended::signaled, .value = *cause.signal}
                   : supervise::WaitStatus{.kind = Ended::exited, .value = cause.code.value_or(1)};
  return report::RemoteCause::Worker{.rank = *cause.rank,
                                     .local_rank = cause.local_rank.value_or(0),
                                     .host = cause.node.value_or("?"),
                                     .status = status,
                                     .how = cause.how.value_or(""),
                                     .absent = cause.absent,
                                     .silent_too = cause.silent_too};
}

}  // namespace

report::RemoteCause remote_cause(const membership::Verdict& verdict) {
  report::RemoteCause remote{
      .name = "rendezvous_lost", .text = verdict.text, .exit_code = verdict.exit_code};
  if (!verdict.cause) return remote;
  remote.name = name_of(verdict.cause->kind);
  remote.worker = worker_of(*verdict.cause);
  remote.lines = verdict.cause->lines;
  return remote;
}

supervise::Attempt attempt_of(const membership::NoteAttempt& order) {
  supervise::Attempt attempt{.number = order.round, .ran = order.ran};
  const auto worker = worker_of(order.cause);
  if (!worker) return attempt;
  attempt.status = worker->status;
  attempt.rank = worker->rank;
  attempt.host = worker->host;
  attempt.how = worker->how;
  attempt.absent = worker->absent;
  return attempt;
}

bool names_rank(const membership::Verdict& verdict, int rank) {
  return verdict.cause && verdict.cause->kind == Kind::worker_failed && verdict.cause->rank == rank;
}

}  // namespace ddprun::agent
