#include "packaging/man/manual.h"

#include <string_view>

#include "launcher/cli/options.h"
#include "packaging/man/roff.h"

namespace ddprun::packaging {
namespace {

using cli::Option;

// What stands around the options; in roff, but for two words in capitals that are replaced.
constexpr std::string_view kFront = R"(.TH DDPRUN 1 "DATE" "ddprun VERSION" "User Commands"
.SH NAME
ddprun \- start and watch the workers of a distributed training job
.SH SYNOPSIS
.B ddprun
.RI [ options ]
.RB [ \-\- ]
.I PROGRAM
.RI [ arguments ...]
.SH DESCRIPTION
.B ddprun
starts one worker process for each GPU of this node, or as many as
.B \-n
says, hosts the store through which they find each other, watches them, and says
what went wrong when one of them fails. It takes the command lines of PyTorch's
.B torchrun
and gives the workers the same environment; it can start any program.
.PP
Words are read as options up to the first that is none, or
.BR \-\- .
From
.I PROGRAM
on, everything reaches the program byte for byte; only
.B ${local_rank}
in it is replaced.
.I PROGRAM
is executed as it is, found through
.B PATH
as a shell does. If its name ends in
.BR .py ,
or with
.BR \-m ,
it is run as
.B ${PYTHON_EXEC:\-python3} \-u
.IR PROGRAM ;
a
.B \-\-
directly behind it is dropped then.
.PP
The local rank is not the number of a GPU: the worker with local rank
.I r
uses the
.IR r -th
GPU that is visible to it. The line that ddprun prints at the start shows both.
.PP
When a worker fails, the others get SIGTERM and, after
.BR \-\-shutdown\-timeout ,
SIGKILL. The report at the end names the worker that failed first, how it ended and
its last output. SIGTERM, SIGINT, SIGHUP and SIGQUIT are passed on to the workers and
end the job; a second one kills at once. SIGUSR1 and SIGUSR2 reach the workers that
catch them and end nothing.
.PP
ddprun consists of two processes, so that no worker is left behind when one of the two
is killed. Both killed at the same moment cannot be caught.
.SH OPTIONS
Options may be spelled with dashes or underscores, as
.BI \-\-opt " value"
or
.BI \-\-opt= value\fR.
The last one given counts.
)";

constexpr std::string_view kBack = R"(.SH EXIT STATUS
.TP
.B 0
every worker ended with 0
.TP
.I N
the exit code of the worker that failed first, or 128 plus the number of the signal that
ended it
.TP
.RI "128+" n
ddprun was told to stop by signal
.I n
and ended by it
.TP
.B 2
the command line is wrong, or a check before the start failed; nothing was started
.TP
.B 124
a limit has passed:
.BR \-\-timeout ,
.B \-\-exit\-grace
or
.B \-\-progress\-timeout
.TP
.B 125
ddprun itself could not do its work
.TP
.BR 126 ", " 127
.I PROGRAM
cannot be executed, is not found
.PP
A program may itself end with 2 or 124 to 127; the cause is in the report.
.SH ENVIRONMENT
.SS Read by ddprun
.TP
.BI PET_ NAME
default of an option,
.B PET_NPROC_PER_NODE=4
for example. Flags take 0, 1, true and false. The command line wins.
.TP
.B CUDA_VISIBLE_DEVICES
which GPUs are visible, by the rules of the driver
.TP
.B PYTHON_EXEC
the Python for scripts and modules
.TP
.B OMP_NUM_THREADS
kept where it is set
.TP
.B TORCH_ELASTIC_SHUTDOWN_TIMEOUT
default of
.B \-\-shutdown\-timeout
.TP
.B TORCHELASTIC_LOG_LINE_PREFIX_TEMPLATE
default of
.B \-\-log\-line\-prefix\-template
.TP
.B TORCHELASTIC_ERROR_FILE
where the error file of the first failure is copied to
.TP
.BR MASTER_ADDR ", " MASTER_PORT ", " NODE_RANK
where several nodes meet and which one this is, if no option and no engine says it
.TP
.BR SLURM_* ", " JOB_COMPLETION_INDEX ", " JOBSET_* ", " OMPI_COMM_WORLD_* ", " PMI_* " and the like"
with
.BR \-\-cluster
only
.TP
.B LOGLEVEL
INFO and DEBUG mean
.B \-v
.TP
.BR NO_COLOR ", " TMPDIR
no colors; where the run directory is made
.TP
.B DDPRUN_NVML
another library in the place of NVML
.SS Set for each worker
RANK, LOCAL_RANK, WORLD_SIZE, LOCAL_WORLD_SIZE, GROUP_RANK, GROUP_WORLD_SIZE, ROLE_NAME,
ROLE_RANK, ROLE_WORLD_SIZE, MASTER_ADDR, MASTER_PORT, TORCHELASTIC_RUN_ID,
TORCHELASTIC_RESTART_COUNT, TORCHELASTIC_MAX_RESTARTS, TORCHELASTIC_ERROR_FILE,
TORCHELASTIC_USE_AGENT_STORE, TORCHELASTIC_SIGNALS_TO_HANDLE,
TORCH_NCCL_ASYNC_ERROR_HANDLING and, where there is more than one worker and none is set,
OMP_NUM_THREADS: what torchrun sets. Besides DDPRUN, DDPRUN_VERSION and DDPRUN_DEVICE
.RB ( cuda: \fIK\fR
or
.BR cpu ).
PET_* and the variables of an outer job are taken out.
.SH FILES
.TP
.IR LOG_DIR / RUN_ID _ xxxxxxxx /attempt_ N / RANK /stdout.log
and
.BR stderr.log ,
where
.B \-r
or
.B \-t
asks for them, and
.BR error.json ,
which a program may write when it fails. Without
.B \-\-log\-dir
the directory is under
.IR $TMPDIR /ddprun\- UID
and goes after a success unless files were asked for.
.SH EXAMPLES
.EX
ddprun \-n 4 ./train
ddprun \-\-standalone \-\-nproc_per_node=gpu train.py \-\-epochs 3
ddprun \-n 8 \-t 3 \-\-log\-dir logs \-m package.train
ddprun \-n 4 \-\-wrap '2:gdb \-\-args' \-\-stdin 2 ./train
ddprun \-\-simulate\-gpus 8 \-\-dry\-run \-n 8 ./train
.EE
.SH DIFFERENCES FROM TORCHRUN
Exit codes of workers are passed on, words behind the program are never taken for
options,
.B $$
in them stays, and a single node meets on 127.0.0.1. The full list is in
.I docs/from\-torchrun.md
of the sources.
.SH SEE ALSO
.BR gdb (1),
.BR numactl (8)
)";

void append_option(std::string& page, const Option& option) {
  page += ".TP\n\\fB";
  if (option.letter != 0) page += std::string("\\-") + option.letter + "\\fR, \\fB";
  page += roff("--" + std::string(option.name)) + "\\fR";
  if (!option.alias.empty()) page += ", \\fB" + roff("--" + std::string(option.alias)) + "\\fR";
  if (option.takes_value()) page += " ";
  page += "\\fI" + roff(option.metavar) + "\\fR\n";
  page += "\\&" + roff(option.help) + "\n";
}

std::string later_options() {
  std::string names;
  for (const Option& option : cli::options()) {
    if (option.availability == cli::Availability::ready) continue;
    names += (names.empty() ? "" : ", ") + roff("--" + std::string(option.name));
  }
  return ".SS Refused\nWith what to do instead:\n" + names + ".\n";
}

}  // namespace

std::string manual_page() {
  std::string page = of_this_release(kFront);
  for (const cli::Heading& heading : cli::headings()) {
    page += ".SS " + std::string(heading.title) + "\n";
    for (const Option& option : cli::options())
      if (option.group == heading.group && option.availability == cli::Availability::ready)
        append_option(page, option);
  }
  return page + later_options() + std::string(kBack);
}

}  // namespace ddprun::packaging
