// Several clients that do anything in any order, to a server and to the model of it.
#pragma once

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "tests/unit/store/requests.h"
#include "tests/unit/store/store_model.h"

namespace ddprun::store {

inline constexpr ClientId kClients = 6;

// A Server has
//   send(client, bytes)   the request has been applied when it returns
//   take(client)          all that has come for the client since the last call
//   replace(client)       it goes away and another takes its place
//   keys()                how many keys there are
template <class Server>
class RandomSchedule {
 public:
  RandomSchedule(Server& server, unsigned seed) : server_(server), random_(seed) {}

  void step() {
    const ClientId client = random_() % kClients;
    const std::string key = some_key(), value = std::to_string(random_() % 4);
    switch (random_() % 6) {
      case 0:
        return write(client, key, value);
      case 1:
        return read(client, key);
      case 2:
        return use_queue(client, key, value);
      case 3:
        return change(client, key, value);
      default:
        return wait_or_leave(client, key);
    }
  }

  void compare() {
    for (ClientId client = 0; client < kClients; ++client) {
      ASSERT_EQ(server_.take(client), model_.out[client]) << "client " << client;
      model_.out[client].clear();
    }
    ASSERT_EQ(server_.keys(), model_.keys.size());
  }

 private:
  void write(ClientId client, const std::string& key, const std::string& value) {
    const std::string other = some_key();
    switch (random_() % 3) {
      case 0:
        server_.send(client, set(key, value));
        return model_.set(key, value);
      case 1:
        // Numbers that stay small, for others add to them.
        server_.send(client, set(key, ""));
        server_.send(client, append(key, value));
        model_.set(key, "");
        return model_.append(key, value);
      default:
        server_.send(client, multi_set({{key, "1"}, {other, "2"}}));
        model_.set(key, "1");
        return model_.set(other, "2");
    }
  }

  void read(ClientId client, const std::string& key) {
    const Keys names{key, some_key()};
    switch (random_() % 4) {
      case 0:
        server_.send(client, get(key));
        model_.out[client] += text(model_.value(key));
        return;
      case 1:
        server_.send(client, multi_get(names));
        for (const std::string& name : names) model_.out[client] += text(model_.value(name));
        return;
      case 2:
        server_.send(client, check(names));
        return model_.check(client, names);
      default:
        server_.send(client, bare(Operation::kGetNumKeys));
        model_.out[client] += number(static_cast<std::int64_t>(model_.keys.size()));
    }
  }

  void use_queue(ClientId client, const std::string& name, const std::string& item) {
    switch (random_() % 3) {
      case 0:
        server_.send(client, push(name, item));
        return model_.push(name, item);
      case 1:
        server_.send(client, pop(name));
        return model_.pop(client, name);
      default:
        server_.send(client, length(name));
        return model_.length(client, name);
    }
  }

  void change(ClientId client, const std::string& key, const std::string& value) {
    const std::string expected = random_() % 2 ? "" : value;
    switch (random_() % 3) {
      case 0:
        server_.send(client, add(key, 2));
        return model_.add(client, key, 2);
      case 1:
        server_.send(client, compare_set(key, expected, "3"));
        return model_.compare_set(client, key, expected, "3");
      default:
        server_.send(client, erase(key));
        model_.out[client] += number(static_cast<std::int64_t>(model_.keys.erase(key)));
    }
  }

  void wait_or_leave(ClientId client, const std::string& key) {
    const Keys names{key, some_key(), some_key()};
    switch (random_() % 6) {
      case 0:
        server_.send(client, bare(Operation::kCancelWait));
        model_.forget(client);
        model_.out[client] += kCanceled;
        return;
      case 1:
        server_.send(client, barrier(key, 3));
        return model_.barrier(client, key, 3);
      case 2:
        server_.replace(client);
        return model_.forget(client);
      default:
        server_.send(client, wait(names));
        return model_.wait(client, names);
    }
  }

  std::string some_key() { return "/" + std::to_string(random_() % 7); }

  Server& server_;
  std::mt19937 random_;
  Model model_;
};

// Runs `steps` steps and compares all that every client has got behind each of them.
template <class Server>
void compare_with_model(Server& server, unsigned seed, int steps) {
  RandomSchedule schedule(server, seed);
  for (int step = 0; step < steps; ++step) {
    schedule.step();
    SCOPED_TRACE("seed " + std::to_string(seed) + ", step " + std::to_string(step));
    ASSERT_NO_FATAL_FAILURE(schedule.compare());
  }
}

}  // namespace ddprun::store
