// Finds the files that the workers' command lines begin with: the program, Python, or a wrapper.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "launcher/cli/environment.h"
#include "launcher/plan/launch_plan.h"
#include "launcher/process/program.h"
#include "launcher/report/exec_failure.h"
#include "rendezvous/base/result.h"
#include "rendezvous/base/unique_fd.h"

namespace ddprun::agent {

class Programs {
 public:
  // Searches in the PATH of `environment`, as seen from `directory` (--chdir), where the workers
  // start; none: from where this process is. The Error is of a directory that cannot be used.
  static Result<Programs> in(const std::optional<std::string>& directory,
                             const cli::Environment& environment);

  // The file of a name. Each name is looked for once.
  const process::ProgramFile& find(const std::string& name);

  // Why a worker of the plan could not be started, as far as that can be told without doing it.
  std::optional<report::ExecFailure> cannot_start(const plan::LaunchPlan& plan);
  // Why a Python script could not be read: Python itself would say of a missing one what it likes,
  // and end with 2.
  std::optional<report::ExecFailure> cannot_read(const std::string& script) const;

  // `error`, an errno, in words for the user.
  report::ExecFailure explain(const plan::WorkerPlan& worker, const std::string& name, int error);

  // Where workers start: a descriptor, -1 without --chdir.
  int directory() const { return directory_.get(); }

 private:
  Programs() = default;
  // A path as it is seen from here.
  std::string from_here(const std::string& path) const;
  int base() const;

  std::string search_path_;
  std::string directory_name_;
  UniqueFd directory_;
  std::vector<std::pair<std::string, process::ProgramFile>> found_;
};

}  // namespace ddprun::agent
