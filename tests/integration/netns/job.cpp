#include "tests/integration/netns/job.h"

#include <utility>

namespace ddprun::test {
namespace {

Words meeting_words(const NetworkJob& job, int index) {
  const Host& meeting_point = job.network->host(job.endpoint_at);
  const std::string& host = job.by_name ? meeting_point.name() : meeting_point.address();
  if (job.meeting == Meeting::arrival)
    return {"--rdzv-backend", "c10d", "--rdzv-endpoint",
            job.by_name ? host + ":" + kPort : meeting_point.endpoint(kPort)};
  return {"--node-rank", std::to_string(index), "--master-addr", host, "--master-port", kPort};
}

}  // namespace

Words shell(const std::string& script) {
  return {"sh", "-c", script};
}

std::unique_ptr<Program> NetworkJob::node(int index, const Words& command,
                                          RunOptions run_options) const {
  Words words{"--nnodes", nodes, "-n", "1"};
  const auto add = [&words](const Words& more) {
    words.insert(words.end(), more.begin(), more.end());
  };
  add(meeting_words(*this, index));
  if (!run.empty()) add({"--rdzv-id", run});
  add(options);
  add({"--"});
  add(command);
  return network->host(index).start(ddprun_words(words), std::move(run_options));
}

std::vector<std::unique_ptr<Program>> NetworkJob::all_nodes(const Words& command,
                                                            RunOptions run_options) const {
  std::vector<std::unique_ptr<Program>> started;
  for (int index = 0; index < network->size(); ++index)
    started.push_back(node(index, command, run_options));
  return started;
}

std::vector<Finished> finish(const std::vector<std::unique_ptr<Program>>& nodes) {
  std::vector<Finished> ends;
  for (const auto& node : nodes) ends.push_back(node->finish());
  return ends;
}

}  // namespace ddprun::test
