#include "tests/bench/machine.h"

#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <time.h>

#include <exception>
#include <fstream>
#include <string>
#include <thread>
#include <utility>

namespace ddprun::bench {
namespace {

std::string today() {
  const time_t now = ::time(nullptr);
  tm parts{};
  ::gmtime_r(&now, &parts);
  char text[16];
  ::strftime(text, sizeof text, "%Y-%m-%d", &parts);
  return text;
}

std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.rfind("model name", 0) == 0) return line.substr(line.find(':') + 2);
  return "unknown processor";
}

std::string first_line(const std::string& file) {
  std::string line;
  std::getline(std::ifstream(file), line);
  return line;
}

// As Debian knows it; empty when it is not installed from there.
std::string package_version(const std::string& package) {
  try {
    return first_line_of({"/usr/bin/dpkg-query", "-W", "-f=${Version}\\n", package});
  } catch (const std::exception&) {
    return "";
  }
}

// What is compared, and was found.
Facts peers_of(const Setup& setup) {
  Facts facts;
  std::string torches;
  for (const std::string& python : {setup.python, setup.other_python})
    if (!python.empty()) torches += (torches.empty() ? "" : ", ") + torch_version(python);
  if (!torches.empty()) facts.emplace_back("PyTorch", torches);
  for (const auto& [name, package] : {std::pair("Open MPI", "openmpi-bin"),
                                      {"MPICH (Hydra)", "mpich"},
                                      {"Slurm", "slurmctld"},
                                      {"Redis", "redis-tools"}})
    if (const std::string version = package_version(package); !version.empty())
      facts.emplace_back(name, version);
  return facts;
}

}  // namespace

Facts facts_of(const Setup& setup, int rounds) {
  utsname system{};
  ::uname(&system);
  struct sysinfo memory {};
  ::sysinfo(&memory);
  Facts facts{
      {"date", today()},
      {"machine", std::to_string(std::thread::hardware_concurrency()) + " CPUs, " + processor() +
                      ", " + std::to_string(memory.totalram * memory.mem_unit >> 30) + " GiB"},
      {"kernel", std::string(system.sysname) + " " + system.release},
      {"load before the start", first_line("/proc/loadavg")},
      {"ddprun", first_line_of({setup.ddprun, "--version"})},
      {"rounds", std::to_string(rounds)}};
  for (auto& fact : peers_of(setup)) facts.push_back(std::move(fact));
  return facts;
}

}  // namespace ddprun::bench
