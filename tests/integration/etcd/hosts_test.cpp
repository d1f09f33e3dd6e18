// Heads and nodes on hosts of a network, beside a real etcd: the examples of
// docs/losing-the-head.md, and what only a network can do to them.
#include "tests/integration/manual_examples/hosts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "tests/integration/etcd/real_etcd.h"
#include "tests/integration/manual_examples/example.h"
#include "tests/integration/multi_node/nodes.h"
#include "tests/integration/netns/network.h"

namespace ddprun::test {
namespace {

constexpr const char* kPage = DDPRUN_PAGES "/losing-the-head.md";
constexpr std::chrono::seconds kLimit{90};
const Words kNames{"head1", "head2", "gpu01", "gpu02", "etcd1", "etcd2", "etcd3"};
constexpr int kFirstEtcd = 4;

// Namespaces of the network share all processes with this machine: only those of the host count.
constexpr const char* kPidof = R"sh(pidof() {
  for process in /proc/[0-9]*; do
    [ "$(cat "$process/comm" 2>/dev/null)" = "$1" ] &&
      [ "$(readlink "$process/ns/net")" = "$(readlink /proc/self/ns/net)" ] && echo "${process#/proc/}"
  done
}; )sh";

class HeadsOnHosts : public testing::Test {
 protected:
  void SetUp() override {
    for (const std::string& why : {RealEtcd::why_not(), Network::why_not()})
      if (!why.empty()) GTEST_SKIP() << why;
    network_ = std::make_unique<Network>(static_cast<int>(kNames.size()));
    name_hosts();
    start_etcd();
    std::ofstream(folder_ / "train") << "#!/bin/sh\necho step 1\n"
                                        "while [ ! -e go ]; do sleep 0.02; done\necho step 2\n";
    std::filesystem::permissions(folder_ / "train", std::filesystem::perms::owner_all);
  }
  void TearDown() override {
    for (Typed& typed : background_) ::kill(typed.program->pid(), SIGKILL);
  }

  struct Typed {
    Example example;
    std::unique_ptr<Program> program;
  };

  Host& host(const std::string& name) {
    return network_->host(static_cast<int>(std::ranges::find(kNames, name) - kNames.begin()));
  }
  void name_hosts();
  void start_etcd();
  std::unique_ptr<Program> type(const Example& example);
  void type_block(const std::vector<Example>& block);
  void await_first_line(Typed& typed);

  const TemporaryFolder folder_;
  std::unique_ptr<Network> network_;
  std::vector<std::unique_ptr<Program>> members_;
  std::vector<Typed> background_;
};

void HeadsOnHosts::name_hosts() {
  std::ofstream known(folder_ / "hosts");
  known << "127.0.0.1 localhost\n";
  for (const std::string& name : kNames) known << host(name).address() << " " << name << "\n";
  known.close();
  for (const std::string& name : kNames) {
    host(name).set_hosts_file(folder_ / "hosts");
    host(name).start({"/bin/hostname", name})->finish();
  }
}

void HeadsOnHosts::start_etcd() {
  std::string all;
  for (std::size_t i = kFirstEtcd; i < kNames.size(); ++i)
    all += (all.empty() ? "" : ",") + kNames[i] + "=http://" + host(kNames[i]).address() + ":2380";
  for (std::size_t i = kFirstEtcd; i < kNames.size(); ++i) {
    const std::string at = "http://" + host(kNames[i]).address();
    members_.push_back(host(kNames[i]).start(
        {"/usr/bin/etcd", "--name", kNames[i], "--data-dir", folder_ / kNames[i],
         "--listen-client-urls", at + ":2379", "--advertise-client-urls", at + ":2379",
         "--listen-peer-urls", at + ":2380", "--initial-advertise-peer-urls", at + ":2380",
         "--initial-cluster", all, "--log-level", "fatal"},
        {.limit = kLimit}));
  }
}

std::unique_ptr<Program> HeadsOnHosts::type(const Example& example) {
  return host(example.host)
      .start({"/bin/bash", "-c",
              "cd '" + folder_.path() + "'; PATH='" DDPRUN_PROGRAMS "':/usr/bin:/bin; " + kPidof +
                  example.command},
             {.limit = kLimit});
}

// Goes on when what goes on in the background has begun, as people do who look at it: when its
// first line is there, and of a daemon what it says first in its log.
void HeadsOnHosts::await_first_line(Typed& typed) {
  static const std::string kLogged = "… info: ";
  ASSERT_FALSE(typed.example.output.empty());
  const std::string& first = typed.example.output.front();
  EXPECT_TRUE(typed.program->wait_for_output(first + "\n")) << first;
  for (const std::string& line : typed.example.output)
    if (line.starts_with(kLogged)) {
      EXPECT_TRUE(typed.program->wait_for_error(line.substr(kLogged.size()))) << line;
      return;
    }
}

void HeadsOnHosts::type_block(const std::vector<Example>& block) {
  const std::size_t before = background_.size();
  for (const Example& example : block) {
    auto program = type(example);
    if (example.background)
      background_.push_back({example, std::move(program)});
    else
      expect_shown(kPage, example, program->finish());
  }
  for (std::size_t i = before; i < background_.size(); ++i) await_first_line(background_[i]);
}

TEST_F(HeadsOnHosts, ShowWhatThePageDoes) {
  std::ifstream in(kPage);
  const auto examples = examples_in({std::istreambuf_iterator<char>(in), {}});
  ASSERT_GE(examples.size(), 5u);
  std::map<int, std::vector<Example>> blocks;
  for (const Example& example : examples) blocks[example.block].push_back(example);
  for (const auto& [number, block] : blocks) type_block(block);
  std::ofstream(folder_ / "go") << "";
  // The jobs end first; then, as nobody is needed any more, the last rdzvd.
  for (const bool jobs : {true, false})
    for (Typed& typed : background_) {
      if (typed.example.command.starts_with("ddprun") != jobs) continue;
      if (!jobs) ::kill(typed.program->pid(), SIGTERM);
      Finished end = typed.program->finish();
      if (end.signal != 0) end.code = 128 + end.signal;
      expect_shown(kPage, typed.example, end);
    }
}

class HeadsWithNodes : public HeadsOnHosts {
 protected:
  void SetUp() override {
    HeadsOnHosts::SetUp();
    if (IsSkipped()) return;
    for (const std::string head : {"head1", "head2"}) {
      rdzvds_.push_back(
          type({.host = head,
                .command = "exec rdzvd --listen " + head +
                           ":29400 --state etcd://etcd1,etcd2,etcd3 --state-lease 2"}));
      ASSERT_TRUE(rdzvds_.back()->wait_for_error(rdzvds_.size() == 1 ? "is the head now"
                                                                     : "standing by: the head is"));
    }
    for (const std::string gpu : {"gpu01", "gpu02"}) nodes_.push_back(node(gpu, "exp7"));
    for (const auto& node : nodes_) ASSERT_TRUE(node->wait_for_output("step 1\n"));
  }
  std::unique_ptr<Program> node(const std::string& gpu, const std::string& run) {
    return type({.host = gpu,
                 .command = "exec ddprun --nnodes 2 --rdzv-backend c10d --rdzv-endpoint "
                            "head1:29400,head2:29400 --rdzv-conf "
                            "keep_alive_interval=0.5,keep_alive_max_attempt=4 --rdzv-id " +
                            run + " ./train"});
  }
  void go_on_at_the_next_one() {
    EXPECT_TRUE(rdzvds_[1]->wait_for_error("is the head now"));
    for (const auto& node : nodes_) EXPECT_TRUE(node->wait_for_error("found the rendezvous at"));
    std::ofstream(folder_ / "go") << "";
    for (const auto& node : nodes_) {
      const Finished end = node->finish();
      EXPECT_EQ(end.code, 0) << end.err;
      EXPECT_EQ(end.out, "step 1\nstep 2\n");
    }
  }
  std::vector<std::unique_ptr<Program>> rdzvds_, nodes_;
};

TEST_F(HeadsWithNodes, WhoseHostIsGoneWithoutAWord) {
  host("head1").silence();
  go_on_at_the_next_one();
}

TEST_F(HeadsWithNodes, OneOfWhichIsCutOffFromEtcdOnly) {
  for (const char* member : {"etcd1", "etcd2", "etcd3"}) host("head1").blackhole(host(member));
  EXPECT_TRUE(rdzvds_[0]->wait_for_error("not the head any more: "));
  go_on_at_the_next_one();
}

// Their names are known no more, and a job comes, which has to be written.
TEST_F(HeadsWithNodes, WhichNeedNoNamesForTheEtcdTheyHaveFound) {
  std::ofstream known(folder_ / "hosts");
  for (const char* name : {"head1", "head2", "gpu01", "gpu02"})
    known << host(name).address() << " " << name << "\n";
  known.close();
  std::ofstream(folder_ / "go") << "";
  const auto a = node("gpu01", "another"), b = node("gpu02", "another");
  EXPECT_EQ(a->finish().code, 0);
  EXPECT_EQ(b->finish().code, 0);
}

// What a reader is told to type stands in a block for a console.
TEST(LosingTheHeadText, HasNoOtherCommands) {
  std::ifstream in(kPage);
  EXPECT_TRUE(blocks_of("sh", {std::istreambuf_iterator<char>(in), {}}).empty());
}

}  // namespace
}  // namespace ddprun::test
