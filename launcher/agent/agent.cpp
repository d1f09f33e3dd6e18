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

report::ExitDecision run(Job job) {
  return NodeAgent(std::move(job)).run();
}

}  // namespace ddprun::agent
