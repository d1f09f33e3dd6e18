// rdzvctl's command line.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "rendezvous/base/endpoint.h"
#include "rendezvous/base/result.h"
#include "rendezvous/guard/tls.h"

namespace ddprun::rdzvctl {

enum class Command {
  status,
  watch,
  cancel,
  stacks,
  store_list,
  store_get,
  store_set,
  store_delete
};

struct Options {
  Command command = Command::status;
  std::vector<Endpoint> endpoints;  // at least one; several where rdzvd --state runs
  std::string run;                  // empty: all
  std::string key;                  // of store commands
  std::string value;                // of store_set
  bool json = false;
  std::optional<std::string> token_file;
  guard::TlsFiles tls;
  // Only print this, and end.
  bool help = false;
  bool version = false;
};

// `words` without the program's name; `endpoint` is $RDZV_ENDPOINT, used without --endpoint. The
// Error is one line.
Result<Options> parse_options(const std::vector<std::string>& words,
                              const std::optional<std::string>& endpoint);
std::string help_text();

}  // namespace ddprun::rdzvctl
