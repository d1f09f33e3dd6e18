#include "rendezvous/roster/changes.h"

#include <utility>

#include "rendezvous/protocol/roster_codec.h"

namespace ddprun::roster {
namespace {

std::string run_key(const std::string& run) {
  return "runs/" + run;
}

std::string end_key(const std::string& run_directory) {
  return "ended/" + run_directory;
}

protocol::EndRecord end_of(const Run& run) {
  protocol::EndRecord end{
      .run = run.terms().run, .run_directory = run.run_directory(), .keep = run.longest_return()};
  if (const auto* abort = std::get_if<protocol::Abort>(&*run.last_word())) end.abort = *abort;
  if (const auto* closed = std::get_if<protocol::Closed>(&*run.last_word())) end.closed = *closed;
  return end;
}

}  // namespace

void Changes::note(const Run& run, const std::string& begun_by, std::optional<Run::Mark>& written) {
  if (!durable_ || written == run.mark()) return;
  written = run.mark();
  protocol::RunRecord record = run.record();
  if (!begun_by.empty()) record.begun_by = begun_by;
  changes_[run_key(run.terms().run)] = protocol::encode(protocol::Record(std::move(record)));
}

void Changes::note_end(const Run& run) {
  if (!durable_ || !run.last_word()) return;
  changes_[end_key(run.run_directory())] = protocol::encode(protocol::Record(end_of(run)));
}

void Changes::forget(const std::string& run) {
  if (durable_) changes_[run_key(run)].reset();
}

void Changes::forget_end(const std::string& run_directory) {
  if (durable_) changes_[end_key(run_directory)].reset();
}

std::vector<Change> Changes::take() {
  std::vector<Change> all;
  for (auto& [key, value] : std::exchange(changes_, {})) all.push_back({key, std::move(value)});
  return all;
}

}  // namespace ddprun::roster
