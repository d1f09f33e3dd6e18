#include "tests/bench/rounds.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <numeric>
#include <random>

namespace ddprun::bench {
namespace {

std::vector<std::size_t> shuffled(std::size_t count, std::mt19937& random) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::shuffle(order.begin(), order.end(), random);
  return order;
}

// The first round always counts, the others evenly.
bool has_turn(const Probe& probe, int round, int rounds) {
  if (!probe.missing.empty()) return false;
  if (probe.most_rounds >= rounds) return true;
  const auto turns = [&](int r) { return (r * probe.most_rounds + rounds - 1) / rounds; };
  return turns(round + 1) > turns(round);
}

void measure_once(Probe& probe) {
  const std::vector<double> values = probe.measure();
  for (std::size_t i = 0; i < probe.rows.size(); ++i) probe.rows[i].values.back() = values.at(i);
}

void try_once(Probe& probe) try { measure_once(probe); } catch (const std::exception& error) {
  probe.failed = true;
  probe.missing = error.what();
  for (Row& row : probe.rows) row.values.clear();
}

void measure_round(std::vector<Block>& blocks, int round, int rounds, std::mt19937& random) {
  for (Block& block : blocks)
    for (Probe& probe : block.probes)
      for (Row& row : probe.rows) row.values.emplace_back();
  for (const std::size_t b : shuffled(blocks.size(), random))
    for (const std::size_t p : shuffled(blocks[b].probes.size(), random))
      if (Probe& probe = blocks[b].probes[p]; has_turn(probe, round, rounds)) try_once(probe);
}

}  // namespace

bool measure(std::vector<Block>& blocks, int rounds) {
  std::mt19937 random(std::random_device{}());
  const bool told = ::isatty(STDERR_FILENO) != 0;
  for (int round = 0; round < rounds; ++round) {
    if (told) std::fprintf(stderr, "\rround %d of %d ", round + 1, rounds);
    measure_round(blocks, round, rounds, random);
  }
  if (told) std::fprintf(stderr, "\r                      \r");
  for (const Block& block : blocks)
    for (const Probe& probe : block.probes)
      if (probe.failed) return false;
  return true;
}

}  // namespace ddprun::bench
