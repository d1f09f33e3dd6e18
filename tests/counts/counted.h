// Work whose instructions are counted by callgrind.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>

namespace ddprun::counts {

// Runs `work`. When the program runs under callgrind with --toggle-collect=kCountedFunction, what
// happens inside is counted and nothing else. May be called many times; not from inside `work`.
void counted(const std::function<void()>& work);
inline constexpr char kCountedFunction[] = "ddprun_counted";

// Work that was not done is not cheap: throws std::logic_error with `what`.
inline void must(bool done, const char* what) {
  if (!done) throw std::logic_error(what);
}

// Each does the same work in each run, whatever the machine and the time, through the product's own
// code, and throws when the work was not done.
struct Workload {
  const char* name;   // of the record and of the CTest
  const char* what;   // what one item is: "SET, GET and ADD"
  std::size_t items;  // so many in one run
  void (*run)(std::size_t items);
};
std::span<const Workload> workloads();

void run_store_set(std::size_t turns);
void run_store_get(std::size_t turns);
void run_store_add(std::size_t turns);
void run_store_wait(std::size_t turns);
void run_store_server(std::size_t turns);
void run_roster_join(std::size_t nodes);
void run_roster_failure(std::size_t nodes);
void run_output(std::size_t lines);
void run_command_line(std::size_t times);
void run_report(std::size_t times);

}  // namespace ddprun::counts
