// Writes the picture of the manual to stdout: the status page with two runs on it, as a browser
// shows it, a PNG in base64. `./dev picture` calls it.
#include <cstdio>
#include <fstream>

#include "rendezvous/base/version.h"
#include "rendezvous/http/page.h"
#include "tests/integration/page/browser.h"

namespace {

using namespace std::chrono_literals;
using namespace ddprun;
using roster::NodeSnapshot;
using roster::Snapshot;

NodeSnapshot node(int rank, NodeSnapshot::State state) {
  NodeSnapshot node{
      .node = "gpu0" + std::to_string(rank + 1),
      .state = state,
      .address = "10.0.0." + std::to_string(rank + 11) + ":41" + std::to_string(300 + 37 * rank),
      .nproc = 8,
      .node_rank = rank,
      .heard_ago = 400ms + rank * 700ms};
  if (state != NodeSnapshot::State::working) return node;
  node.first_rank = 8 * rank;
  for (int gpu = 0; gpu < 8; ++gpu)
    node.workers.push_back({21'040 + 311 * rank + gpu, "GPU " + std::to_string(gpu)});
  return node;
}

Snapshot training() {
  using State = NodeSnapshot::State;
  return {
      .run = "vit-large-7",
      .state = Snapshot::State::running,
      .age = 3h,
      .in_state = 52min,
      .round = 1,
      .restarts = 1,
      .max_restarts = 3,
      .min_nodes = 2,
      .max_nodes = 4,
      .world_size = 24,
      .store = "10.0.0.11:40113",
      .nodes = {node(0, State::working), node(1, State::working), node(2, State::working)},
      .last_failure = protocol::Cause{.text = "rank 13 (local rank 5 on gpu02) failed: SIGSEGV"}};
}

Snapshot forming() {
  using State = NodeSnapshot::State;
  return {.run = "tokenizer-sweep",
          .age = 42s,
          .in_state = 42s,
          .min_nodes = 4,
          .max_nodes = 4,
          .missing = "2 of 4 nodes are here (gpu05, gpu07), node ranks 1, 3 are missing",
          .nodes = {node(0, State::waiting), node(2, State::waiting)}};
}

http::View view() {
  Snapshot second = forming();
  second.nodes[0].node = "gpu05";
  second.nodes[0].address = "10.0.0.15:40888";
  second.nodes[1].node = "gpu07";
  second.nodes[1].address = "10.0.0.17:52014";
  http::View view{.host = "head",
                  .version = std::string(version()),
                  .age = 26h,
                  .runs = {training(), std::move(second)},
                  .runs_in_all = 2};
  view.figures.roster_connections = 5;
  return view;
}

}  // namespace

int main() {
  const test::TemporaryFolder folder;
  const std::string page = folder / "page.html";
  std::ofstream(page) << http::status_page(view());
  test::Browser browser(1000, 400);
  browser.open("file://" + page);
  std::printf("%s\n", browser.picture().c_str());
}
