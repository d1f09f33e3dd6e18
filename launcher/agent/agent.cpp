#include "launcher/agent/agent.h"

#include <boost/asio/ip/address.hpp>
#include <utility>

#include "launcher/agent/node_agent.h"

namespace ddprun::agent {

std::string store_address(const cli::JobSpec& spec) {
  const std::string given = spec.master_addr.value_or("");
  boost::system::error_code not_an_address;
  const auto address = boost::asio::ip::make_address(given, not_an_address);
  return !not_an_address && address.is_loopback() ? given : "127.0.0.1";
}

std::optional<report::ExecFailure> cannot_execute(const std::string& program,
                                                  const cli::Environment& environment) {
  const auto file =
      process::find_program(program, environment.get("PATH").value_or(process::kDefaultPath));
  if (file.error == 0) return {};
  return report::explain_exec_failure(program, file.error,
                                      report::look_at_program(program, file.path));
}

report::ExitDecision run(Job job) {
  return NodeAgent(std::move(job)).run();
}

}  // namespace ddprun::agent
