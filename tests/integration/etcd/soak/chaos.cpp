#include "tests/integration/etcd/soak/chaos.h"

#include <algorithm>
#include <csignal>
#include <stdexcept>
#include <utility>

#include "tests/integration/multi_node/nodes.h"

namespace ddprun::etcd_soak {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kTick{5};
constexpr std::chrono::hours kLimit{10};
// Milliseconds between two strikes.
constexpr int kLeastPause = 200;
constexpr int kMostPause = 3'000;
// Between the end of one and its beginning again.
constexpr int kLeastAway = 100;
constexpr int kMostAway = 4'000;
constexpr milliseconds kRetry{50};  // where too much is away for another strike

// About so many milliseconds a phase takes that nothing happens to.
int usual_length(Phase phase) {
  switch (phase) {
    case Phase::joining:
      return 2'500;
    case Phase::running:
      return 1'500;
    case Phase::restarting:
      return 250;
    case Phase::ending:
      return 150;
  }
  return 1;
}

}  // namespace

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
  aim();
  while (!stopped_) {
    revive();
    watch_phase();
    const bool all_done = tally_.of("killed") >= most_;
    if (!all_done && is_time()) try_to_strike();
    if (all_done && dead_.empty()) over_ = true;
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

// Mostly at the phase that has had the fewest kills: the short ones would have none otherwise.
void Chaos::aim() {
  wanted_ = *std::ranges::min_element(kPhases, {},
                                      [this](Phase phase) { return tally_.of("killed", phase); });
  if (dice_.one_in(4)) wanted_.reset();
  not_before_ =
      Clock::now() + (dice_.one_in(4) ? milliseconds(0) : between(kLeastPause, kMostPause));
}

void Chaos::watch_phase() {
  const Phase now = phase_;
  if (now == seen_) return;
  seen_ = now;
  in_phase_at_ = Clock::now() + between(0, usual_length(now));
}

bool Chaos::is_time() const {
  const auto now = Clock::now();
  return now >= not_before_ && (!wanted_ || (*wanted_ == seen_ && now >= in_phase_at_));
}

void Chaos::try_to_strike() {
  if (strike())
    aim();
  else
    not_before_ = Clock::now() + kRetry;
}

bool Chaos::strike() {
  const bool stop = dice_.one_in(5);
  return dice_.one_in(3) ? strike_member(stop) : strike_rdzvd(stop);
}

// One is left always: a job whose rendezvous is away for good is lost, and has to be.
bool Chaos::strike_rdzvd(bool stop) {
  if (std::ranges::count(dead_, false, &Due::member) >= kRdzvds - 1) return false;
  const int present = head();
  const int number = present >= 0 && !dice_.one_in(4) ? present : dice_.below(kRdzvds);
  if (is_away(false, number)) return false;
  auto& rdzvd = rdzvds_[static_cast<std::size_t>(number)];
  ::kill(rdzvd->pid(), stop ? SIGSTOP : SIGKILL);
  count(number == present ? "head" : "rdzvd that stood by", stop);
  dead_.push_back({Clock::now() + between(kLeastAway, kMostAway), false, stop, number});
  if (stop) return true;
  rdzvd->wait_for_end();
  rdzvd.reset();
  return true;
}

bool Chaos::strike_member(bool stop) {
  if (std::ranges::count(dead_, true, &Due::member) >= test::RealEtcd::kMembers - 1) return false;
  const int leader = etcd_->leader();
  const int number =
      leader >= 0 && dice_.one_in(2) ? leader : dice_.below(test::RealEtcd::kMembers);
  if (is_away(true, number)) return false;
  if (stop)
    etcd_->stop(number);
  else
    etcd_->kill(number);
  count(number == leader ? "leader of etcd" : "other member of etcd", stop);
  dead_.push_back({Clock::now() + between(kLeastAway, kMostAway), true, stop, number});
  return true;
}

void Chaos::count(const std::string& what, bool stop) {
  tally_.add((stop ? "stopped: " : "killed: ") + what, phase_);
}

bool Chaos::is_away(bool member, int number) const {
  return std::ranges::any_of(
      dead_, [&](const Due& due) { return due.member == member && due.number == number; });
}

void Chaos::revive() {
  for (auto each = dead_.begin(); each != dead_.end();) {
    if (Clock::now() < each->at) {
      ++each;
      continue;
    }
    bring_back(*each);
    each = dead_.erase(each);
  }
}

void Chaos::bring_back(const Due& due) {
  if (due.member && due.stopped) return etcd_->go_on(due.number);
  if (due.member) return etcd_->start(due.number);
  if (!due.stopped) return start_rdzvd(due.number);
  ::kill(rdzvds_[static_cast<std::size_t>(due.number)]->pid(), SIGCONT);
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
