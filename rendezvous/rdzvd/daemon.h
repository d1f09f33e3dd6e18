// rdzvd's life: listens, serves, hears signals, ends.
#pragma once

#include <memory>

#include "rendezvous/rdzvd/options.h"

namespace ddprun::guard {
class Tls;
class Token;
}  // namespace ddprun::guard

namespace ddprun::rdzvd {

// `token`: what clients have to show; null: nothing. `tls`: null for none. Returns the exit code: 0
// after SIGTERM or SIGINT, 1 if it could not listen. Writes the real address as the first line of
// stdout and the log to stderr.
int serve(const Options& options, std::shared_ptr<const guard::Token> token,
          std::shared_ptr<guard::Tls> tls);

// Of the files of the options; null without any. Error: one of them is missing or wrong.
Result<std::shared_ptr<guard::Tls>> tls_of(const Options& options);

}  // namespace ddprun::rdzvd
