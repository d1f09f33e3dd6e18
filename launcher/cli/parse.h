// The command line, from words to a JobSpec.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "launcher/cli/environment.h"
#include "launcher/cli/job_spec.h"

namespace ddprun::cli {

// ddprun ends at once: print `out` to standard output and `err` to standard error, both complete
// with their newline, and exit with `code`: 0 for --help and --version, 2 for a wrong command line.
struct Exit {
  int code = 0;
  std::string out;
  std::string err;
};

// `words` without argv[0]. Pure: reads the PET_* variables, TORCH_ELASTIC_SHUTDOWN_TIMEOUT,
// TORCHELASTIC_LOG_LINE_PREFIX_TEMPLATE, LOGLEVEL and those of settle_rendezvous from `environment`
// only. What needs facts of
// the machine (whether --stdin's rank exists with -n auto, say) is left to plan::make. An error is
// one line that names the option or the variable, the word, and what to write. Remarks are in
// JobSpec::notices. Counterpart: get_args_parser of torch.distributed.run.
std::variant<JobSpec, Exit> parse(const std::vector<std::string>& words,
                                  const Environment& environment);

}  // namespace ddprun::cli
