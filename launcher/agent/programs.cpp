#include "launcher/agent/programs.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <cerrno>

#include "launcher/plan/command.h"

namespace ddprun::agent {

Result<Programs> Programs::in(const std::optional<std::string>& directory,
                              const cli::Environment& environment) {
  Programs programs;
  programs.search_path_ = environment.get("PATH").value_or(process::kDefaultPath);
  if (!directory) return programs;
  programs.directory_name_ = *directory;
  programs.directory_.reset(::open(directory->c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!programs.directory_ || ::faccessat(programs.directory(), ".", X_OK, 0) != 0)
    return Error{"--chdir '" + *directory + "': " + ::strerror(errno)};
  return programs;
}

const process::ProgramFile& Programs::find(const std::string& name) {
  for (const auto& [known, file] : found_)
    if (known == name) return file;
  return found_.emplace_back(name, process::find_program(name, search_path_, base())).second;
}

std::optional<report::ExecFailure> Programs::cannot_start(const plan::LaunchPlan& plan) {
  const plan::WorkerPlan* before = nullptr;
  for (const plan::WorkerPlan& worker : plan.workers) {
    const bool same = before != nullptr && before->wrapper == worker.wrapper &&
                      (!worker.wrapper.empty() || before->argv.front() == worker.argv.front());
    before = &worker;
    if (same && worker.wrapper.empty()) continue;
    const std::string name = plan::command_line(worker, plan.host, 0).front();
    if (const int error = find(name).error; error != 0) return explain(worker, name, error);
  }
  return {};
}

std::optional<report::ExecFailure> Programs::cannot_read(const std::string& script) const {
  if (::faccessat(base(), script.c_str(), R_OK, 0) == 0) return {};
  return report::ExecFailure{report::exec_failure_code(errno),
                             "cannot start '" + script + "': " + ::strerror(errno)};
}

report::ExecFailure Programs::explain(const plan::WorkerPlan& worker, const std::string& name,
                                      int error) {
  return report::explain_exec_failure(name, error,
                                      report::look_at_program(name, from_here(find(name).path)),
                                      worker.wrapper.empty() ? "" : "--wrap");
}

std::string Programs::from_here(const std::string& path) const {
  const bool relative = !path.empty() && path.front() != '/';
  return directory_ && relative ? directory_name_ + "/" + path : path;
}

int Programs::base() const {
  return directory_ ? directory_.get() : AT_FDCWD;
}

}  // namespace ddprun::agent
