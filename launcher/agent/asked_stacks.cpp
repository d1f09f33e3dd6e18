#include "launcher/agent/asked_stacks.h"

#include <sys/stat.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <cerrno>
#include <cstring>
#include <utility>

namespace ddprun::agent {
namespace {

// The server waits 15 s for the answers of all nodes.
constexpr std::chrono::milliseconds kLimit{12'000};
constexpr std::chrono::milliseconds kLongest{5'000};

}  // namespace

std::string rank_files(const std::string& folder, const std::vector<int>& ranks) {
  std::string text;
  const bool all = ranks.back() - ranks.front() + 1 == static_cast<int>(ranks.size());
  if (ranks.size() > 1 && all)
    text = std::to_string(ranks.front()) + ".." + std::to_string(ranks.back());
  else
    for (const int rank : ranks) text += (text.empty() ? "" : ",") + std::to_string(rank);
  return folder + "/rank_" + (ranks.size() > 1 ? "{" + text + "}" : text) + ".txt";
}

AskedStacks::AskedStacks(boost::asio::io_context& io, process::SpawnSettings settings,
                         std::string search_path)
    : io_(io), taker_(io, std::move(settings), std::move(search_path)) {}

void AskedStacks::take(const std::string& folder, std::vector<stacks::Target> targets, Done done) {
  const auto refuse = [&](const std::string& why) {
    boost::asio::post(io_, [done = std::move(done), why] { done(Error{why}); });
  };
  if (done_) return refuse("they are being written for somebody else; ask again in a moment");
  if (targets.empty()) return refuse("no worker runs here");
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
    return refuse("cannot make the directory '" + folder + "': " + std::strerror(errno));
  folder_ = folder;
  done_ = std::move(done);
  const auto turns = static_cast<std::int64_t>((targets.size() + stacks::kMostProcesses - 1) /
                                               stacks::kMostProcesses);
  limit_ = std::min(kLongest, kLimit / turns);
  waiting_ = std::move(targets);
  take_next();
}

void AskedStacks::take_next() {
  if (waiting_.empty()) return finish({boost::system::in_place_value, folder_});
  const auto count = static_cast<std::ptrdiff_t>(std::min(waiting_.size(), stacks::kMostProcesses));
  std::vector<stacks::Target> now(waiting_.begin(), waiting_.begin() + count);
  waiting_.erase(waiting_.begin(), waiting_.begin() + count);
  taker_.take(std::move(now), limit_, [this] { take_next(); });
}

void AskedStacks::cancel() {
  taker_.cancel();
  waiting_.clear();
  if (done_) finish(Error{"the workers have ended meanwhile"});
}

void AskedStacks::finish(Result<std::string> result) {
  boost::asio::post(
      io_, [done = std::exchange(done_, nullptr), result = std::move(result)] { done(result); });
}

}  // namespace ddprun::agent
