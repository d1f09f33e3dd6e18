// A program that spawns: spawner SCENARIO. Prints what spawn did; exit code 3 means that a
// ddp::Error left it.
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <map>
#include <stdexcept>
#include <thread>

#include "ddp/collectives.h"
#include "ddp/device.h"
#include "ddp/process_group.h"
#include "ddp/spawn.h"
#include "torch/torch.h"

namespace {

void sum(int rank, const std::string& greeting) {
  ddp::init_process_group();
  auto one_more = torch::tensor({rank + 1});
  ddp::all_reduce(one_more);
  std::printf("%s from rank %d of %d: %d\n", greeting.c_str(), ddp::get_rank(),
              ddp::get_world_size(), one_more.item<int>());
  ddp::destroy_process_group();
}
const ddp::SpawnWorker sum_worker("sum", sum);

void echo(int, std::string text, double tenth, double tiny, std::uint64_t most, signed char least,
          bool yes, float half, long double third) {
  for (const char c : text) std::printf("%02x", static_cast<unsigned char>(c));
  std::printf(" %a %a %llu %d %d %a %La\n", tenth, tiny, static_cast<unsigned long long>(most),
              least, yes, half, third);
}
const ddp::SpawnWorker echo_worker("echo", echo);

void show_place(int rank) {
  const auto variable = [](const char* name) {
    return std::getenv(name) ? std::getenv(name) : "-";
  };
  std::printf("%d: %s %s %s %s, %s, OMP %s, restarts %d, ticket %s\n", rank, variable("RANK"),
              variable("LOCAL_RANK"), variable("WORLD_SIZE"), variable("LOCAL_WORLD_SIZE"),
              ddp::describe_device().c_str(), variable("OMP_NUM_THREADS"), ddp::restart_count(),
              variable("DDP_SPAWN"));
}
const ddp::SpawnWorker show_place_worker("show_place", show_place);

[[noreturn]] void wait_for_ever() {
  for (;;) pause();
}

// Rank 1 fails in this way while the others wait for it.
void fail(int rank, const std::string& how, int size) {
  ddp::init_process_group();
  if (rank == 1) {
    if (how == "throw")
      throw std::runtime_error("no luck" + std::string(static_cast<std::size_t>(size), '!'));
    if (how == "kill") raise(SIGKILL);
    if (how == "abort") raise(SIGABRT);
    if (how == "exit") std::_Exit(7);
  }
  ddp::barrier();
}
const ddp::SpawnWorker fail_worker("fail", fail);

// Rank 1 throws when the others have said that they no longer heed SIGTERM.
void fail_beside_the_deaf(int rank) {
  ddp::init_process_group();
  signal(SIGTERM, SIG_IGN);
  ddp::barrier();
  if (rank == 1) throw std::runtime_error("no luck");
  wait_for_ever();
}
const ddp::SpawnWorker deaf_worker("deaf", fail_beside_the_deaf);

// Rank 0's first thread ends, which looks to the kernel's callers as if the process did, and rank 1
// throws.
void fail_beside_the_headless(int rank) {
  ddp::init_process_group();
  signal(SIGTERM, SIG_IGN);
  ddp::barrier();
  if (rank == 1) throw std::runtime_error("no luck");
  std::thread(wait_for_ever).detach();
  syscall(SYS_exit, 0);
}
const ddp::SpawnWorker headless_worker("headless", fail_beside_the_headless);

void hang(int rank) {
  ddp::init_process_group();
  ddp::barrier();
  if (rank == 0) std::printf("all are here\n"), std::fflush(stdout);
  wait_for_ever();
}
const ddp::SpawnWorker hang_worker("hang", hang);

void spawn_again(int) {
  ddp::spawn(1, "show_place");
}
const ddp::SpawnWorker spawn_again_worker("spawn_again", spawn_again);

void leave(int, int code) {
  std::exit(code);
}
const ddp::SpawnWorker leave_worker("leave", leave);

void throw_number(int) {
  throw 7;
}
const ddp::SpawnWorker throw_number_worker("throw_number", throw_number);

const ddp::SpawnWorker twice_worker("twice", show_place);
const ddp::SpawnWorker second_worker("twice", show_place);

using Scenario = void (*)();
const std::map<std::string, Scenario> kScenarios{
    {"sum", [] { ddp::spawn(3, "sum", "hello"); }},
    {"echo",
     [] {
       ddp::spawn(1, "echo", std::string("a\n\0'%", 5), 0.1, 5e-324,
                  std::numeric_limits<std::uint64_t>::max(), -128, true, 0.5, 1.0L / 3);
     }},
    {"place", [] { ddp::spawn(2, "show_place"); }},
    {"throw", [] { ddp::spawn(3, "fail", "throw", 0); }},
    {"throw_long", [] { ddp::spawn(2, "fail", "throw", 200'000); }},
    {"throw_number", [] { ddp::spawn(1, "throw_number"); }},
    {"kill", [] { ddp::spawn(3, "fail", "kill", 0); }},
    {"abort", [] { ddp::spawn(3, "fail", "abort", 0); }},
    {"exit", [] { ddp::spawn(3, "fail", "exit", 0); }},
    {"deaf", [] { ddp::spawn({.nprocs = 3, .grace = std::chrono::milliseconds(100)}, "deaf"); }},
    {"headless",
     [] { ddp::spawn({.nprocs = 2, .grace = std::chrono::milliseconds(500)}, "headless"); }},
    {"hang", [] { ddp::spawn(3, "hang"); }},
    {"leave", [] { ddp::spawn(1, "leave", 0); }},
    {"nested", [] { ddp::spawn(1, "spawn_again"); }},
    {"none", [] { ddp::spawn(0, "sum", "x"); }},
    {"unknown", [] { ddp::spawn(1, "sumo", "x"); }},
    {"two_of_a_name", [] { ddp::spawn(1, "twice"); }},
    {"too_few", [] { ddp::spawn(1, "sum"); }},
    {"wrong_kind", [] { ddp::spawn(1, "leave", "a word"); }},
    {"too_large", [] { ddp::spawn(1, "leave", std::int64_t{1} << 40); }},
    {"inside_a_function",
     [] {
       static const ddp::SpawnWorker late("late", show_place);
       ddp::spawn(1, "late");
     }},
    {"ignoring_children",
     [] {
       signal(SIGCHLD, SIG_IGN);
       ddp::spawn(1, "show_place");
     }},
    {"forgetful", [] { ddp::spawn(1, "show_place"); }},
};

}  // namespace

int main(int argc, char** argv) {
  const std::string name = argc > 1 ? argv[1] : "";
  if (name != "forgetful") ddp::run_if_spawned();
  try {
    kScenarios.at(name)();
    std::printf("all ended well\n");
    return 0;
  } catch (const ddp::Error& error) {
    std::printf("rank %d: %s\n", error.rank(), error.what());
    return 3;
  }
}
