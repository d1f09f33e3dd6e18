// Node b of two, as a test drives it.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <variant>
#include <vector>

#include "launcher/membership/member.h"

namespace ddprun::membership {

using namespace std::chrono_literals;
using Kind = Verdict::Kind;

inline const Time kStart{std::chrono::hours(1)};

template <class T>
std::vector<T> all(const Orders& orders) {
  std::vector<T> found;
  for (const Order& order : orders.list)
    if (const auto* each = std::get_if<T>(&order)) found.push_back(*each);
  return found;
}

template <class T>
T only(const Orders& orders) {
  const auto found = all<T>(orders);
  EXPECT_EQ(found.size(), 1U);
  return found.empty() ? T{} : found.front();
}

// The messages of one type that are to be sent.
template <class M>
std::vector<M> sent(const Orders& orders) {
  std::vector<M> found;
  for (const Send& send : all<Send>(orders))
    if (const auto* each = std::get_if<M>(&send.message)) found.push_back(*each);
  return found;
}

inline protocol::Assignment assignment(int round, int restarts = 0) {
  return {.round = round,
          .restarts = restarts,
          .world_size = 3,
          .nodes = {{.member = 7, .node = "a", .nproc = 2}, {.member = 8, .node = "b", .nproc = 1}},
          .store_host = "10.0.0.1",
          .store_port = 4000};
}

inline protocol::Cause failure(int rank, int code) {
  return {.kind = protocol::Cause::Kind::worker_failed,
          .text = "rank failed",
          .node = "a",
          .rank = rank,
          .local_rank = 0,
          .code = code};
}

// Node b of two.
class MemberTest : public testing::Test {
 protected:
  void join(bool embedded) {
    member_.start(kStart);
    member_.on_connected(kStart);
    welcome(embedded, 8);
  }
  Orders welcome(bool embedded, protocol::MemberId id) {
    return member_.on_message(kStart, protocol::Welcome{.member = id,
                                                        .server = "s1",
                                                        .embedded = embedded,
                                                        .server_host = "a",
                                                        .run_directory = "run_1"});
  }
  Orders begin(int round, int restarts = 0) {
    return member_.on_message(kStart, assignment(round, restarts));
  }
  Orders restart(int round, Time now = kStart) {
    return member_.on_message(
        now, protocol::Restart{.round = round, .cause = failure(0, 3), .why = "restart follows"});
  }

  Member member_{{.endpoint = "a:29400",
                  .join_timeout = 600s,
                  .reconnect_timeout = 5s,
                  .restart_backoff = 1s}};
};

}  // namespace ddprun::membership
