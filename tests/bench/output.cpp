#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <string>

#include "tests/bench/groups.h"
#include "tests/bench/line_delay.h"
#include "tests/bench/stamps.h"
#include "tests/support/temporary_folder.h"

namespace ddprun::bench {
namespace {

constexpr int kLineBytes = 69;
constexpr int kDelayLines = 100;

// The options by which ddprun and torchrun alike write both streams to the console and to files.
Words tee_into(const std::string& folder) {
  return {"-t", "3", "--log-dir", folder};
}

void expect_bytes(const std::filesystem::path& file, std::uintmax_t least) {
  const std::uintmax_t size = std::filesystem::file_size(file);
  if (size < least)
    throw std::runtime_error(file.string() + " has " + std::to_string(size) + " bytes, not " +
                             std::to_string(least));
}

void expect_log(const std::filesystem::path& folder, std::uintmax_t bytes) {
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.path().filename() == "stdout.log" && !entry.is_symlink())
      return expect_bytes(entry.path(), bytes);
  throw std::runtime_error("no stdout.log under " + folder.string());
}

// From the first instruction of the writer to the end of `command`, whose output is then on the
// console, here a file.
double time_of_lines(const Words& command, const std::string& console, std::uintmax_t bytes) {
  const Stamps stamps;
  ObservedProcess process(command, console);
  expect_code(process.wait(), 0, command);
  const std::int64_t end = now_ns();
  expect_bytes(console, bytes);
  return milliseconds(first_start(stamps.wait_for(1)), end);
}

struct Lines {
  Words writer;
  std::uintmax_t bytes;

  Probe through(Row row, Words launcher, bool tee, int most_rounds, std::string missing) const {
    const Row in_a_second{
        row.name + ", in a second", "MB", {}, row.peer.empty() ? "" : row.peer + ", in a second"};
    const auto measure = [launcher, tee, lines = *this] {
      const test::TemporaryFolder folder;
      const Words command = launcher + (tee ? tee_into(folder / "logs") : Words{}) + lines.writer;
      const double took = time_of_lines(command, folder / "console", lines.bytes);
      if (tee) expect_log(folder / "logs", lines.bytes);
      return std::vector{took, static_cast<double>(lines.bytes) / 1e3 / took};
    };
    return {{std::move(row), in_a_second}, measure, most_rounds, std::move(missing)};
  }

  Probe through_cat(Row row, int most_rounds) const {
    const Words shell{"/bin/sh", "-c", "\"$0\" \"$@\" | cat"};
    return through(std::move(row), shell, false, most_rounds, "");
  }
};

Block throughput(const Setup& setup, const std::string& no_tee) {
  const std::string n = std::to_string(setup.lines);
  const std::string cat = n + " lines: cat", tee = n + " lines: ddprun -t 3";
  const Lines lines{{setup.worker, "lines", n},
                    static_cast<std::uintmax_t>(setup.lines) * kLineBytes};
  const Words ddprun = ddprun_words(setup, 1);
  Block block{"output", {}};
  block.probes = {lines.through_cat({cat, "ms"}, 7),
                  lines.through({n + " lines: ddprun", "ms", {}, cat}, ddprun, false, 7, ""),
                  lines.through({tee, "ms", ratio_at_most(2), cat}, ddprun, true, 7, no_tee),
                  lines.through({n + " lines: torchrun -t 3", "ms", ratio_at_least(5), tee},
                                torchrun_words(setup, 1), true, 2, no_torchrun(setup))};
  return block;
}

Block delay(const Setup& setup, const std::string& no_tee) {
  const std::string floor = "delay of a line: cat", tee = "delay of a line: ddprun -t 3";
  const Words writer{setup.worker, "clock", std::to_string(kDelayLines)};
  const auto probe = [&](Row row, Words launcher, bool with_tee, std::string missing = {}) {
    const auto measure = [launcher, with_tee, writer] {
      const test::TemporaryFolder folder;
      const Words tee_words = with_tee ? tee_into(folder / "logs") : Words{};
      return std::vector{median_line_delay(launcher + tee_words + writer, kDelayLines)};
    };
    return Probe{{std::move(row)}, measure, with_tee ? 3 : 7, std::move(missing)};
  };
  return {"output",
          {probe({floor, "ms"}, {"/bin/sh", "-c", "\"$0\" \"$@\" | cat"}, false),
           probe({"delay of a line: ddprun", "ms", {}, floor}, ddprun_words(setup, 1), false),
           probe({tee, "ms", {}, floor}, ddprun_words(setup, 1), true, no_tee),
           probe({"delay of a line: torchrun -t 3", "ms", {}, tee}, torchrun_words(setup, 1), true,
                 no_torchrun(setup))}};
}

}  // namespace

std::vector<Block> output_group(const Setup& setup) {
  const test::TemporaryFolder folder;
  const std::string no_tee = refused(setup, tee_into(folder / "logs"));
  return {throughput(setup, no_tee), delay(setup, no_tee)};
}

}  // namespace ddprun::bench
