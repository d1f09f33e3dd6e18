#include "launcher/hosts/meeting_address.h"

#include <sstream>

namespace ddprun::hosts {

bool is_literal(const std::string& name) {
  return name.find(':') != std::string::npos ||
         name.find_first_not_of("0123456789.") == std::string::npos;
}

bool is_loopback(const std::string& name) {
  return name.starts_with("127.") || name == "::1" || name == "localhost";
}

std::string meeting_address(const std::string& name, const std::string& ssh_connection,
                            const std::string& default_address) {
  if (is_literal(name)) return name;
  std::istringstream words(ssh_connection);
  std::string client, client_port, reached;
  words >> client >> client_port >> reached;
  // An address of one link means nothing without the name of an interface.
  const bool usable = is_literal(reached) && !reached.empty() &&
                      reached.find('%') == std::string::npos && !reached.starts_with("fe80:");
  if (usable && !is_loopback(reached)) return reached;
  if (!default_address.empty()) return default_address;
  return usable ? reached : "127.0.0.1";
}

}  // namespace ddprun::hosts
