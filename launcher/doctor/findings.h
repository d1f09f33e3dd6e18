// The parts of what --doctor finds; verdict.h puts them together. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "launcher/doctor/facts.h"
#include "launcher/doctor/verdict.h"

namespace ddprun::doctor {

// CPUs, memory, open files, processes, locked memory, folders, core dumps, clock.
std::vector<Finding> about_machine(const Facts& facts);
// GPUs, their visible list, PyTorch, NCCL, Python, hwloc, the stack tool.
std::vector<Finding> about_software(const Facts& facts);
// Host name, addresses, endpoint, ports, loopback, firewall, scheduler, settings.
std::vector<Finding> about_network(const Facts& facts);

// "1 GPU", "2 GPUs".
std::string plural(std::size_t count, const std::string& noun);
// "a, b".
std::string joined(const std::vector<std::string>& words);

// Whether no name in the value of NCCL_SOCKET_IFNAME is one of `interfaces`: a list of beginnings,
// "=" before it for whole names, "^" for those that are not to be used, which fits always.
bool names_no_interface(std::string_view choice, const std::vector<Interface>& interfaces);

// The oldest driver, "580", for the CUDA that PyTorch was built with ("13.0"); 0 where this program
// does not know.
int driver_for_cuda(std::string_view cuda);

}  // namespace ddprun::doctor
