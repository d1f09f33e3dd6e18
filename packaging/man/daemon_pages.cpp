#include "packaging/man/daemon_pages.h"

#include <string_view>

#include "packaging/man/roff.h"
#include "rendezvous/base/version.h"
#include "rendezvous/rdzvd/options.h"

namespace ddprun::packaging {
namespace {

constexpr std::string_view kRdzvdFront =
    R"(.TH RDZVD 8 "DATE" "ddprun VERSION" "System Administration"
.SH NAME
rdzvd \- the rendezvous daemon of ddprun
.SH SYNOPSIS
.B rdzvd
.RI [ options ]
.SH DESCRIPTION
.B rdzvd
is where the nodes of jobs started by
.BR ddprun (1)
meet. It serves many runs at once: who is a node of which run, when a round of a run
begins, who is missing, and what happens when a worker or a node fails.
.PP
One port serves three protocols, told apart by the first bytes of a connection: the
roster protocol of ddprun's agents and of
.BR rdzvctl (1),
HTTP, and the store protocol of PyTorch. Store clients meet one common store that
belongs to no run; the store of a job lives with one of its nodes. What speaks anything
else is closed, with one line in the log.
.PP
When rdzvd ends, agents keep their workers running and come back to the next one.
.SH OPTIONS
)";

constexpr std::string_view kRdzvdBack = R"(.SH PAGES
.TP
.B /
the status page
.TP
.BR /api/v1/runs ", " /api/v1/runs/ \fIRUN\fR
the same as JSON
.TP
.B /metrics
for Prometheus
.TP
.B /healthz
.B ok
.PP
All of them are read only, and leave out what workers have written unless there is a
token. With one, all but /healthz need it, as the password of HTTP's basic authentication or as a
bearer, and only where nobody can read it on its way: by TLS, or on this host.
.SH SIGNALS
.TP
.BR SIGTERM ", " SIGINT
agents are told, connections are closed, the exit status is 0; a second one ends it at
once
.TP
.B SIGHUP
the token file and the certificate are read again, for those who come from then on
.SH EXIT STATUS
.B 0
after SIGTERM or SIGINT,
.B 1
if it cannot listen,
.B 2
for a wrong command line.
.SH ENVIRONMENT
.TP
.B RDZV_TOKEN
the token, without
.BR \-\-token\-file ;
taken out of the environment at the start
.TP
.B NOTIFY_SOCKET
where READY=1, STATUS= and STOPPING=1 are sent, see
.BR sd_notify (3)
.TP
.BR LISTEN_PID ", " LISTEN_FDS
one listening socket handed over by the service manager; then
.B \-\-listen
does not count
.TP
.B JOURNAL_STREAM
log lines carry a priority and no time where stderr is the journal
.SH FILES
.I rdzvd.service
and
.I rdzvd.socket
are units for systemd.
.SH EXAMPLES
.EX
rdzvd \-\-listen 10.0.0.1:29400
ddprun \-\-nnodes 4 \-\-rdzv\-endpoint 10.0.0.1:29400 \-\-rdzv\-id exp\-7 ./train
curl http://10.0.0.1:29400/api/v1/runs
.EE
.SH SEE ALSO
.BR ddprun (1),
.BR rdzvctl (1)
)";

constexpr std::string_view kRdzvctl = R"(.TH RDZVCTL 1 "DATE" "ddprun VERSION" "User Commands"
.SH NAME
rdzvctl \- ask a rendezvous server of ddprun about its runs
.SH SYNOPSIS
.B rdzvctl
.RB [ \-\-endpoint
.IR HOST:PORT ]
.RB [ \-\-token\-file
.IR FILE ]
.I COMMAND
.SH DESCRIPTION
.B rdzvctl
asks
.BR rdzvd (8),
or the server inside a
.BR ddprun (1).
.SH COMMANDS
.TP
.BR status " [" \-\-json "] [\fIRUN\fR]"
the runs, their nodes, ranks and devices, who is missing, and what failed last
.TP
.BR watch " [\fIRUN\fR]"
the same, again every two seconds, until Ctrl\-C
.TP
.BI cancel " RUN"
ends the run on all its nodes
.TP
.BI stacks " RUN"
lets each node write the stacks of its workers to files, rank_\fIN\fR.txt for rank
\fIN\fR, and names them
.TP
.B store ls
the keys of the server's common store
.TP
.BI "store get" " KEY"
.TQ
.BI "store set" " KEY VALUE"
.TQ
.BI "store delete" " KEY"
one of them. Keys of PyTorch's clients begin with a slash.
.PP
.B cancel
and
.B stacks
are taken from the server's own host only, or with its token.
.SH OPTIONS
.TP
.BI \-\-endpoint " HOST:PORT"
the server
.TP
.BI \-\-token\-file " FILE"
the server's token, in a file that only its owner and group may read
.TP
.BI \-\-tls\-ca " FILE"
the server is reached by TLS; the certificate of the CA that has signed its own
.TP
.BR \-\-tls\-cert ", " \-\-tls\-key " \fIFILE\fR"
a certificate, for a server that wants one, and its private key
.TP
.B \-\-json
with
.BR status :
what
.B /api/v1/runs
gives
.TP
.BR \-\-version ", " \-\-help
.SH EXIT STATUS
.B 0
if it was done,
.B 1
if the server could not be asked or refused,
.B 2
for a wrong command line.
.SH ENVIRONMENT
.TP
.B RDZV_ENDPOINT
the server, without
.BR \-\-endpoint ;
without both 127.0.0.1:29400
.TP
.B RDZV_TOKEN
the server's token, without
.B \-\-token\-file
.SH SEE ALSO
.BR ddprun (1),
.BR rdzvd (8)
)";

void append_option(std::string& page, const rdzvd::OptionText& option) {
  page += ".TP\n\\fB" + roff("--" + std::string(option.name)) + "\\fR";
  if (!option.metavar.empty()) page += " \\fI" + roff(option.metavar) + "\\fR";
  page += "\n\\&" + roff(option.help);
  if (!option.fallback.empty()) page += " (" + roff(option.fallback) + ")";
  page += "\n";
}

}  // namespace

std::string rdzvd_page() {
  std::string page = of_this_release(kRdzvdFront);
  for (const rdzvd::OptionText& option : rdzvd::option_texts()) append_option(page, option);
  return page + std::string(kRdzvdBack);
}

std::string rdzvctl_page() {
  return of_this_release(kRdzvctl);
}

}  // namespace ddprun::packaging
