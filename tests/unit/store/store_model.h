// A store that is too simple to be wrong: what each client gets, byte for byte.
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "rendezvous/store/store.h"
#include "tests/unit/store/requests.h"

namespace ddprun::store {

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
  void append(const std::string& key, const std::string& tail) { set(key, keys[key] + tail); }
  std::string value(const std::string& key) { return keys.contains(key) ? keys[key] : ""; }
  void check(ClientId client, const Keys& names) {
    const auto there = [&](const std::string& name) { return exists(name); };
    out[client] += std::ranges::all_of(names, there) ? kIsReady : kIsNotReady;
  }
  void length(ClientId client, const std::string& name) {
    out[client] += number(static_cast<std::int64_t>(queues[name].size()));
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

}  // namespace ddprun::store
