// Finds out how this machine is connected.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "launcher/cli/rendezvous_spec.h"
#include "launcher/doctor/facts.h"
#include "launcher/doctor/question.h"

namespace ddprun::doctor {

// Asks the resolver for `name`; read_host() makes values of the answer.
Question ask_host(const std::string& name);
HostName read_host(const std::string& name, Question& question, Question::Clock::time_point until);

// Asks whether anybody takes connections there: the answer is the first reason why not, or empty.
// Nothing is sent, and the kernel decides how long it tries.
Question ask_connection(const cli::MeetingPoint& point);

// Those that are up, in the kernel's order.
std::vector<Interface> interfaces();

// Tries to listen on all addresses.
Port look_at_port(std::uint16_t number);
std::string why_no_loopback();

// Firewalls that are switched on, as far as their files and the output of `nft list chains` (empty
// where it could not be asked) tell.
std::vector<std::string> firewalls(const std::string& nft_chains);
// Pure. Whether a chain for incoming packets drops what no rule lets in.
bool drops_incoming(std::string_view nft_chains);

}  // namespace ddprun::doctor
