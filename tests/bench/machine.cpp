#include "tests/bench/machine.h"

#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <time.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>

#include "tests/support/temporary_folder.h"

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

std::string output_of(const Words& command) {
  const test::TemporaryFolder folder;
  time_of(command, folder / "output");
  return first_line(folder / "output");
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
      {"ddprun", output_of({setup.ddprun, "--version"})},
      {"rounds", std::to_string(rounds)}};
  if (!setup.python.empty())
    facts.push_back({"torch of torchrun",
                     output_of({setup.python, "-c", "import torch; print(torch.__version__)"})});
  return facts;
}

}  // namespace ddprun::bench
