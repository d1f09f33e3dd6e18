#include "rendezvous/roster/stacks_requests.h"

#include <algorithm>
#include <utility>

#include "rendezvous/base/span_text.h"

namespace ddprun::roster {

std::uint64_t StacksRequests::begin(Time now, MemberId asker,
                                    std::map<MemberId, std::string> awaited) {
  requests_.emplace(
      ++last_,
      Request{
          .asker = asker, .awaited = std::move(awaited), .answer = {}, .until = now + timeout_});
  return last_;
}

void StacksRequests::on_done(MemberId from, const protocol::StacksDone& done) {
  const auto request = requests_.find(done.id);
  if (request == requests_.end()) return;
  const auto awaited = request->second.awaited.find(from);
  if (awaited == request->second.awaited.end()) return;
  request->second.answer.nodes.push_back({awaited->second, done.path, done.failed});
  request->second.awaited.erase(awaited);
}

void StacksRequests::on_closed(MemberId connection, const std::string& how) {
  forget(connection);
  for (auto& [id, request] : requests_) {
    const auto awaited = request.awaited.find(connection);
    if (awaited == request.awaited.end()) continue;
    request.answer.nodes.push_back({awaited->second, {}, how});
    request.awaited.erase(awaited);
  }
}

bool StacksRequests::forget(MemberId asker) {
  return std::erase_if(requests_, [&](const auto& each) { return each.second.asker == asker; }) > 0;
}

std::vector<StacksRequests::Finished> StacksRequests::take_finished(Time now) {
  std::vector<Finished> finished;
  for (auto& [id, request] : requests_) {
    if (!request.awaited.empty() && now < request.until) continue;
    for (const auto& [from, node] : request.awaited)
      request.answer.nodes.push_back({node, {}, "it did not answer within " + span_text(timeout_)});
    finished.push_back({request.asker, std::move(request.answer)});
  }
  for (const Finished& each : finished) forget(each.asker);
  return finished;
}

std::vector<MemberId> StacksRequests::askers() const {
  std::vector<MemberId> all;
  for (const auto& [id, request] : requests_) all.push_back(request.asker);
  return all;
}

std::optional<Time> StacksRequests::wake_at() const {
  std::optional<Time> first;
  for (const auto& [id, request] : requests_)
    first = std::min(first.value_or(request.until), request.until);
  return first;
}

}  // namespace ddprun::roster
