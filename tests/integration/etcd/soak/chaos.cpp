#include "tests/integration/etcd/soak/chaos.h"

#include <algorithm>
#include <csignal>
#include <stdexcept>
#include <utility>

#include "tests/integration/multi_node/nodes.h"

namespace ddprun::etcd_soak {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kTick{10};
constexpr std::chrono::hours kLimit{10};
// Milliseconds between two kills. A node that is lost together with a head is given up by one that
// lives long enough to have waited for it.
constexpr int kLeastPause = 200;
constexpr int kMostPause = 6'000;

}  // namespace

const char* name(Phase phase) {
  switch (phase) {
    case Phase::joining:
      return "joining";
    case Phase::running:
      return "running";
    case Phase::restarting:
      return "restarting";
    case Phase::ending:
      return "ending";
  }
  return "";
}

Chaos::Chaos(std::string rdzvd, std::string folder, std::uint64_t seed, int most)
    : rdzvd_(std::move(rdzvd)), folder_(std::move(folder)), dice_(seed), most_(most) {
  for (int i = 0; i < kRdzvds; ++i) {
    ports_.push_back(test::free_port());
    endpoints_ += (i == 0 ? "" : ",") + std::string("127.0.0.1:") + ports_.back();
  }
  thread_ = std::thread([this] { run(); });
  while (!ready_ && !failed_) std::this_thread::sleep_for(kTick);
  if (!failed_) return;
  thread_.join();
  throw std::runtime_error("etcd or rdzvd does not come up; see " + folder_);
}

Chaos::~Chaos() {
  stopped_ = true;
  if (thread_.joinable()) thread_.join();
}

void Chaos::run() {
  try {
    start_all();
  } catch (const std::exception&) {
    failed_ = true;
    return;
  }
  ready_ = true;
  auto next = Clock::now() + between(200, 2'000);
  while (!stopped_) {
    revive();
    if (tally_.kills < most_ && Clock::now() >= next) {
      strike();
      next = Clock::now() + between(kLeastPause, kMostPause);
    }
    if (tally_.kills >= most_ && dead_.empty()) over_ = true;
    std::this_thread::sleep_for(kTick);
  }
  rdzvds_.clear();
  etcd_.reset();
}

void Chaos::start_all() {
  etcd_ = std::make_unique<test::RealEtcd>(kLimit);
  if (!etcd_->is_healthy()) throw std::runtime_error("etcd");
  rdzvds_.resize(kRdzvds);
  for (int i = 0; i < kRdzvds; ++i) start_rdzvd(i);
}

void Chaos::start_rdzvd(int number) {
  const auto at = static_cast<std::size_t>(number);
  rdzvds_[at] = std::make_unique<test::Program>(
      test::Words{"/bin/sh", "-c", "log=$1; shift; exec \"$@\" 2>>$log", "sh",
                  folder_ + "/rdzvd" + std::to_string(number) + ".log", rdzvd_, "--listen",
                  "127.0.0.1:" + ports_[at], "--state", etcd_->place(kPrefix), "--state-lease", "2",
                  "--log-level", "debug"},
      test::RunOptions{.limit = kLimit});
  if (!rdzvds_[at]->wait_for_output("\n")) throw std::runtime_error("rdzvd");
}

milliseconds Chaos::between(int least, int most) {
  return milliseconds(least + dice_.below(most - least));
}

void Chaos::strike() {
  const bool done = dice_.one_in(3) ? strike_member() : strike_rdzvd();
  if (!done) return;
  ++tally_.kills;
  ++tally_.by_phase[name(phase_)];
}

// One is left always: a job whose rendezvous is away for good is lost, and has to be.
bool Chaos::strike_rdzvd() {
  if (std::ranges::count(dead_, false, &Due::member) >= kRdzvds - 1) return false;
  const int present = head();
  const int number = present >= 0 && !dice_.one_in(4) ? present : dice_.below(kRdzvds);
  auto& rdzvd = rdzvds_[static_cast<std::size_t>(number)];
  if (!rdzvd) return false;
  ::kill(rdzvd->pid(), SIGKILL);
  rdzvd->wait_for_end();
  rdzvd.reset();
  dead_.push_back({Clock::now() + between(100, 4'000), false, number});
  ++tally_.by_kind[number == present ? "head" : "rdzvd that stood by"];
  return true;
}

bool Chaos::strike_member() {
  if (std::ranges::count(dead_, true, &Due::member) >= test::RealEtcd::kMembers - 1) return false;
  const int leader = etcd_->leader();
  const int number =
      leader >= 0 && dice_.one_in(2) ? leader : dice_.below(test::RealEtcd::kMembers);
  if (!etcd_->runs(number)) return false;
  etcd_->kill(number);
  dead_.push_back({Clock::now() + between(100, 4'000), true, number});
  ++tally_.by_kind[number == leader ? "leader of etcd" : "other member of etcd"];
  return true;
}

void Chaos::revive() {
  for (auto each = dead_.begin(); each != dead_.end();) {
    if (Clock::now() < each->at) {
      ++each;
      continue;
    }
    if (each->member)
      etcd_->start(each->number);
    else
      start_rdzvd(each->number);
    each = dead_.erase(each);
  }
}

// -1 when nobody knows.
int Chaos::head() const {
  const std::string value = etcd_->read(std::string(kPrefix) + "head");
  for (int i = 0; i < kRdzvds; ++i)
    if (value.find("127.0.0.1:" + ports_[static_cast<std::size_t>(i)] + "\"") != std::string::npos)
      return i;
  return -1;
}

}  // namespace ddprun::etcd_soak
