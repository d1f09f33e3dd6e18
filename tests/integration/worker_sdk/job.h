// Real processes for tests: a store and some ranks, each with a hard time limit.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <map>
#include <string>
#include <vector>

namespace ddp::test {

// Set beside the process's own environment, in which all of a launcher's variables are taken out.
using Environment = std::map<std::string, std::string>;

struct Ended {
  int exit_code = -1;  // -1 if a signal ended it
  int signal = 0;
  bool timed_out = false;  // it was killed because the limit had passed
  std::string out, err;    // after the limit, `err` ends with the stacks of its threads
};

// One child. Its output goes to files, so it never blocks on a pipe.
class Child {
 public:
  Child(const std::vector<std::string>& command, const Environment& environment);
  ~Child();  // kills it if nobody waited
  Child(Child&& other) noexcept;
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  // Waits for its end, at most until `end`, and then kills it and its own children.
  Ended wait(std::chrono::steady_clock::time_point end);

 private:
  pid_t pid_ = -1;
  int out_ = -1, err_ = -1;
};

// A store of LibTorch in a process of its own, on a port that the kernel chose.
class StoreHost {
 public:
  StoreHost();
  ~StoreHost();
  StoreHost(const StoreHost&) = delete;
  StoreHost& operator=(const StoreHost&) = delete;

  int port() const { return port_; }
  // Returns when somebody has set the key, given as on the wire without the first slash.
  void wait_for(const std::string& key);
  bool has(const std::string& key);
  // It says nothing any more, and does not end.
  void freeze();

 private:
  std::string ask(const std::string& command);

  pid_t pid_ = -1;
  int to_ = -1;
  std::FILE* from_ = nullptr;
  int port_ = 0;
};

// What a launcher with --device cpu that hosts the store at `port` gives rank `rank`.
Environment rank_environment(int rank, int world_size, int port);

// Like a launcher: `world_size` processes of the test's worker program, a store for them, all ended
// within 60 s.
std::vector<Ended> run_ranks(int world_size, const std::string& scenario,
                             const Environment& more = {});

// The same with a command for each rank, ended within `limit`.
std::vector<Ended> run_commands(const std::vector<std::vector<std::string>>& commands,
                                const Environment& more = {},
                                std::chrono::seconds limit = std::chrono::seconds(60));

// Without a launcher's store: rank 0 hosts it. Tried again on another port where that one is taken.
std::vector<Ended> run_hosting(const std::vector<std::vector<std::string>>& commands,
                               const Environment& more = {});

std::chrono::steady_clock::time_point in(std::chrono::seconds seconds);

// Everything that a failed expectation should show.
std::string describe(const std::vector<Ended>& ranks);

}  // namespace ddp::test
