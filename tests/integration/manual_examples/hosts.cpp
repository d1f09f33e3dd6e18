#include "tests/integration/manual_examples/hosts.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <utility>

#include "rendezvous/base/read_file.h"

namespace ddprun::test {
namespace {

constexpr std::array kNames{"head", "gpu01", "gpu02"};

// rdzvd writes elsewhere, as a service does, and lives on when its starter ends.
constexpr const char* kSystemctl = R"sh(#!/bin/bash
folder=${0%/*}
if [ "$1" = restart ]; then
  pid=$(cat "$folder/rdzvd.pid")
  kill "$pid" && tail --pid="$pid" -f /dev/null
fi
mkfifo "$folder/first_line.$$"
setsid timeout 120 rdzvd >"$folder/first_line.$$" 2>>"$folder/rdzvd.log" </dev/null &
echo $! >"$folder/rdzvd.pid"
read -r _ <"$folder/first_line.$$"  # it listens
)sh";

int index_of(const std::string& host) {
  for (std::size_t i = 0; i < kNames.size(); ++i)
    if (host == kNames[i]) return static_cast<int>(i);
  throw std::runtime_error("the manual has no host '" + host + "'");
}

}  // namespace

void expect_shown(const std::string& page, const Example& example, const Finished& end) {
  // The order of two streams, and of two ranks, is not the page's to promise: stdout first.
  const std::string where = page + ":" + std::to_string(example.line), all = end.out + end.err;
  EXPECT_EQ(end.code, example.exit_code) << where << "\n" << all;
  EXPECT_TRUE(shows(example.output, lines(all))) << where << " differs:\n" << all;
}

ManualHosts::ManualHosts() {
  std::string known = "127.0.0.1 localhost\n";
  for (std::size_t i = 0; i < kNames.size(); ++i)
    known += network_.host(static_cast<int>(i)).address() + " " + kNames[i] + "\n";
  std::ofstream(folder_ / "hosts") << known;
  std::filesystem::create_directory(folder_ / "bin");
  std::ofstream(folder_ / "bin/systemctl") << kSystemctl;
  std::filesystem::permissions(folder_ / "bin/systemctl", std::filesystem::perms::owner_all);
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    Host& host = network_.host(static_cast<int>(i));
    host.set_hosts_file(folder_ / "hosts");
    host.start({"/bin/hostname", kNames[i]})->finish();
  }
}

ManualHosts::~ManualHosts() {
  for (Typed& typed : background_) ::kill(typed.program->pid(), SIGTERM);
  const int daemon = std::atoi(read_file(folder_ / "bin/rdzvd.pid").value_or("0").c_str());
  if (daemon > 0) ::kill(daemon, SIGTERM);
}

std::unique_ptr<Program> ManualHosts::start(const Example& example) {
  const std::string path = (folder_ / "bin") + ":" DDPRUN_PROGRAMS ":/usr/bin:/bin";
  return network_.host(index_of(example.host))
      .start({"/bin/bash", "-c",
              "cd '" + folder_.path() + "'; PATH='" + path + "'; " + example.command},
             {.limit = std::chrono::seconds(60)});
}

void ManualHosts::finish(const std::string& page, Typed& typed) {
  expect_shown(page, typed.example, typed.program->finish());
}

void ManualHosts::run_block(const std::string& page, std::vector<Example> block) {
  std::vector<Typed> typed;
  for (Example& example : block) {
    // One after the other at the same host.
    for (Typed& before : typed)
      if (before.program && before.example.host == example.host) {
        finish(page, before);
        before.program.reset();
      }
    auto program = start(example);
    auto& list = example.background ? background_ : typed;
    list.push_back({std::move(example), std::move(program)});
  }
  for (Typed& each : typed)
    if (each.program) finish(page, each);
}

void ManualHosts::run(const std::string& page, const std::vector<Example>& examples) {
  for (std::size_t begin = 0, end = 0; begin < examples.size(); begin = end) {
    while (end < examples.size() && examples[end].block == examples[begin].block) ++end;
    run_block(page, {examples.begin() + static_cast<std::ptrdiff_t>(begin),
                     examples.begin() + static_cast<std::ptrdiff_t>(end)});
  }
  for (Typed& typed : background_) finish(page, typed);
  background_.clear();
}

}  // namespace ddprun::test
