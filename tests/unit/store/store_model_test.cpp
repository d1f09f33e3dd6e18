// The store against a model that is too simple to be wrong, under random schedules of several
// clients.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <random>
#include <set>

#include "tests/unit/store/pure_server.h"
#include "tests/unit/store/requests.h"

namespace ddprun::store {
namespace {

// Waiters are one list in order of arrival; everything is searched for.
class Model {
 public:
  std::map<ClientId, std::string> out;

  bool exists(const std::string& key) { return keys.contains(key) || !queues[key].empty(); }
  void set(const std::string& key, const std::string& value) {
    keys[key] = value;
    wake(key);
  }
  void add(ClientId client, const std::string& key, std::int64_t summand) {
    const std::int64_t sum = (keys.contains(key) ? std::stoll(keys[key]) : 0) + summand;
    out[client] += number(sum);
    set(key, std::to_string(sum));
  }
  void compare_set(ClientId client, const std::string& key, const std::string& expected,
                   const std::string& desired) {
    if (!keys.contains(key)) {
      out[client] += text(expected.empty() ? desired : expected);
      if (expected.empty()) set(key, desired);
      return;
    }
    if (keys[key] == expected) keys[key] = desired;
    out[client] += text(keys[key]);
  }
  void wait(ClientId client, const Keys& names) {
    forget(client);
    std::set<std::string> missing;
    for (const std::string& name : names) {
      if (!exists(name)) missing.insert(name);
    }
    if (missing.empty()) {
      out[client] += kStop;
    } else {
      waiters.push_back({client, missing, false});
    }
  }
  void barrier(ClientId client, const std::string& key, std::int64_t world_size) {
    forget(client);
    const std::int64_t arrived = (keys.contains(key) ? std::stoll(keys[key]) : 0) + 1;
    keys[key] = std::to_string(arrived);
    if (arrived < world_size) {
      waiters.push_back({client, {key}, true});
    } else {
      out[client] += kStop;
      wake(key);
    }
  }
  void push(const std::string& name, const std::string& item) {
    queues[name].push_back(item);
    for (auto waiter = waiters.begin(); waiter != waiters.end(); ++waiter) {
      if (waiter->at_barrier || !waiter->missing.erase(name)) continue;
      if (waiter->missing.empty()) {
        out[waiter->client] += kStop;
        waiters.erase(waiter);
      }
      return;
    }
  }
  void pop(ClientId client, const std::string& name) {
    std::deque<std::string>& queue = queues[name];
    out[client] += number(static_cast<std::int64_t>(queue.size()));
    if (queue.empty()) return;
    out[client] += text(queue.front());
    queue.pop_front();
  }
  void forget(ClientId client) {
    std::erase_if(waiters, [&](const Waiter& waiter) { return waiter.client == client; });
  }

  std::map<std::string, std::string> keys;
  std::map<std::string, std::deque<std::string>> queues;

 private:
  struct Waiter {
    ClientId client;
    std::set<std::string> missing;
    bool at_barrier;
  };

  void wake(const std::string& key) {
    std::erase_if(waiters, [&](Waiter& waiter) {
      if (!waiter.missing.erase(key) || !waiter.missing.empty()) return false;
      out[waiter.client] += kStop;
      return true;
    });
  }

  std::vector<Waiter> waiters;
};

class Schedule {
 public:
  explicit Schedule(unsigned seed) : random_(seed) {
    for (ClientId client = 0; client < kClients; ++client) server_.greet(client);
  }

  void step() {
    const ClientId client = random_() % kClients;
    const std::string key = some_key();
    const std::string value = std::to_string(random_() % 4);
    switch (random_() % 14) {
      case 0:
        server_.send(client, set(key, value));
        return model_.set(key, value);
      case 1:
        server_.send(client, add(key, 2));
        return model_.add(client, key, 2);
      case 2: {
        const std::string expected = random_() % 2 ? "" : value;
        server_.send(client, compare_set(key, expected, "3"));
        return model_.compare_set(client, key, expected, "3");
      }
      case 3:
        server_.send(client, get(key));
        model_.out[client] += text(model_.keys.contains(key) ? model_.keys[key] : "");
        return;
      case 4:
      case 5:
      case 6: {
        const Keys names{key, some_key(), some_key()};
        server_.send(client, wait(names));
        return model_.wait(client, names);
      }
      case 7:
        server_.send(client, bare(Operation::kCancelWait));
        model_.forget(client);
        model_.out[client] += kCanceled;
        return;
      case 8:
        server_.send(client, erase(key));
        model_.out[client] += number(static_cast<std::int64_t>(model_.keys.erase(key)));
        return;
      case 9: {
        const std::string other = some_key();
        server_.send(client, multi_set({{key, "1"}, {other, "2"}}));
        model_.set(key, "1");
        return model_.set(other, "2");
      }
      case 10:
        server_.send(client, push(key, value));
        return model_.push(key, value);
      case 11:
        server_.send(client, pop(key));
        return model_.pop(client, key);
      case 12:
        server_.send(client, barrier(key, 3));
        return model_.barrier(client, key, 3);
      case 13:
        server_.store().forget(client);  // it goes away and another takes its place
        return model_.forget(client);
    }
  }

  void compare() {
    for (ClientId client = 0; client < kClients; ++client) {
      ASSERT_EQ(server_.take(client), model_.out[client]) << "client " << client;
      model_.out[client].clear();
    }
    ASSERT_EQ(server_.store().keys(), model_.keys.size());
  }

 private:
  static constexpr ClientId kClients = 6;

  std::string some_key() { return "/" + std::to_string(random_() % 7); }

  std::mt19937 random_;
  PureServer server_;
  Model model_;
};

TEST(StoreModel, RandomSchedulesGiveTheSameRepliesInTheSameOrder) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    Schedule schedule(seed);
    for (int step = 0; step < 2'000; ++step) {
      schedule.step();
      SCOPED_TRACE("seed " + std::to_string(seed) + ", step " + std::to_string(step));
      ASSERT_NO_FATAL_FAILURE(schedule.compare());
    }
  }
}

}  // namespace
}  // namespace ddprun::store
