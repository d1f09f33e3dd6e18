#include "tests/integration/multi_node/nodes.h"

#include "launcher/process/children.h"
#include "tests/integration/support/loopback_port.h"

namespace ddprun::test {

std::string free_port() {
  const LoopbackPort port;
  return std::to_string(port.number());
}

std::unique_ptr<Program> start(const Words& options, const Words& command, RunOptions run_options) {
  Words words = options;
  words.push_back("--");
  words.insert(words.end(), command.begin(), command.end());
  return std::make_unique<Program>(ddprun_words(std::move(words)), std::move(run_options));
}

std::unique_ptr<Program> FixedJob::node(int rank, const Words& command,
                                        const Words& options) const {
  Words words{
      "--nnodes",  std::to_string(nodes_), "--node-rank", std::to_string(rank), "--master-addr",
      "127.0.0.1", "--master-port",        port_};
  words.insert(words.end(), options_.begin(), options_.end());
  words.insert(words.end(), options.begin(), options.end());
  return start(words, command);
}

std::unique_ptr<Program> ArrivalJob::node(const Words& command, const Words& options) const {
  Words words{"--nnodes",          nodes_, "--rdzv-backend", "c10d", "--rdzv-endpoint",
              "127.0.0.1:" + port_};
  words.insert(words.end(), options_.begin(), options_.end());
  words.insert(words.end(), options.begin(), options.end());
  return start(words, command);
}

Words shell(const std::string& script) {
  return {"sh", "-c", script};
}

std::string line_with(const std::string& text, const std::string& begin) {
  for (const std::string& line : lines(text))
    if (line.starts_with(begin)) return line;
  return "";
}

pid_t launcher_of(const Program& ddprun) {
  const auto below = process::descendants_of(ddprun.pid());
  return below.empty() ? 0 : below.front();
}

}  // namespace ddprun::test
