#include "tests/bench/setup.h"

#include <fstream>
#include <stdexcept>

#include "tests/bench/stamps.h"
#include "tests/support/temporary_folder.h"

namespace ddprun::bench {

Setup Setup::with_baseline() const {
  Setup other = *this;
  other.ddprun = baseline;
  return other;
}

Words operator+(Words left, const Words& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

Words ddprun_words(const Setup& setup, int workers) {
  return Words{setup.ddprun} + setup.ddprun_options + Words{"-n", std::to_string(workers)};
}

Words torchrun_words(const Setup& setup, int workers, const Words& options) {
  return Words{setup.python,
               "-m",
               "torch.distributed.run",
               "--standalone",
               "--nproc-per-node",
               std::to_string(workers)} +
         options + Words{"--no-python"};
}

std::string torch_version(const std::string& python) {
  const std::string line = first_line_of(
      {python, "-c", "import importlib.metadata; print(importlib.metadata.version('torch'))"});
  return line.substr(0, line.find('+'));
}

std::string no_torchrun(const Setup& setup) {
  return setup.python.empty() ? "no torchrun (give --python FILE)" : "";
}

std::string no_torch(const Setup& setup) {
  return setup.python.empty() ? "no PyTorch for Python (give --python FILE)" : "";
}

std::string no_names(const Setup& setup, const std::string& how) {
  ObservedProcess names({setup.names, how, "/bin/true"});
  return names.wait() == 0 ? "" : "no other name service can be had (needs root)";
}

std::string no_rdzvd(const Setup& setup) {
  return setup.rdzvd.empty() ? "no rdzvd beside ddprun (give --rdzvd FILE)" : "";
}

std::string no_worker_sdk(const Setup& setup) {
  return setup.train_worker.empty() ? "this build has no worker SDK" : "";
}

std::string refused(const Setup& setup, const Words& option) {
  ObservedProcess ddprun(ddprun_words(setup, 1) + option + Words{setup.worker, "end"});
  if (ddprun.wait() == 0) return "";
  return "ddprun refuses " + option.at(0) + " " + option.at(1);
}

void expect_code(int code, int expected, const Words& command) {
  if (code == expected) return;
  std::string text;
  for (const std::string& word : command) text += word + " ";
  throw std::runtime_error(text + "ended with " + std::to_string(code) + " instead of " +
                           std::to_string(expected));
}

std::string first_line_of(const Words& command) {
  const test::TemporaryFolder folder;
  time_of(command, folder / "output");
  std::string line;
  std::ifstream file(folder / "output");
  std::getline(file, line);
  return line;
}

double time_of(const Words& command, const std::string& output) {
  const std::int64_t start = now_ns();
  ObservedProcess process(command, output);
  const int code = process.wait();
  const std::int64_t end = now_ns();
  expect_code(code, 0, command);
  return milliseconds(start, end);
}

double time_to_last_start(const Words& command, int workers) {
  const Stamps stamps;
  const std::int64_t start = now_ns();
  ObservedProcess process(command);
  expect_code(process.wait(), 0, command);
  return milliseconds(start, last_start(stamps.wait_for(static_cast<std::size_t>(workers))));
}

}  // namespace ddprun::bench
