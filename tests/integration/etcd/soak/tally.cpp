#include "tests/integration/etcd/soak/tally.h"

#include <cstdio>

namespace ddprun::etcd_soak {
namespace {

std::string row(const std::string& head, const std::array<std::string, kPhases.size()>& cells) {
  std::array<char, 128> line{};
  std::snprintf(line.data(), line.size(), "%-30s %10s %10s %10s %10s\n", head.c_str(),
                cells[0].c_str(), cells[1].c_str(), cells[2].c_str(), cells[3].c_str());
  return line.data();
}

}  // namespace

const char* name(Phase phase) {
  switch (phase) {
    case Phase::joining:
      return "joining";
    case Phase::running:
      return "running";
    case Phase::restarting:
      return "restarting";
    case Phase::ending:
      return "ending";
  }
  return "";
}

void Tally::add(const Tally& other) {
  for (const auto& [kind, phases] : other.counts_)
    for (const auto& [phase, count] : phases) counts_[kind][phase] += count;
}

int Tally::of(const std::string& begin, Phase phase) const {
  int all = 0;
  for (const auto& [kind, phases] : counts_)
    if (const auto found = phases.find(phase); kind.starts_with(begin) && found != phases.end())
      all += found->second;
  return all;
}

int Tally::of(const std::string& begin) const {
  int all = 0;
  for (const Phase phase : kPhases) all += of(begin, phase);
  return all;
}

std::string Tally::text() const {
  std::array<std::string, kPhases.size()> cells;
  for (std::size_t i = 0; i < cells.size(); ++i) cells[i] = name(kPhases[i]);
  std::string text = row("", cells);
  for (const auto& [kind, phases] : counts_) {
    for (std::size_t i = 0; i < cells.size(); ++i) cells[i] = std::to_string(of(kind, kPhases[i]));
    text += row(kind, cells);
  }
  return text;
}

}  // namespace ddprun::etcd_soak
