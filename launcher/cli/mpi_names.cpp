#include "launcher/cli/mpi_names.h"

#include <algorithm>
#include <array>
#include <utility>

namespace ddprun::cli {
namespace {

constexpr std::string_view kNumber =
    "-n or --nproc-per-node, the number on each host, or --hosts a:8,b:8";
constexpr std::string_view kHosts = "--hosts a:8,b:8";
constexpr std::string_view kHostfile = "--hostfile FILE";
constexpr std::string_view kVariable = "-x NAME=VALUE";

// Of Open MPI, MPICH with Hydra, and Intel MPI. srun's -N is the number of nodes, which --hosts
// says as well.
constexpr std::array<std::pair<std::string_view, std::string_view>, 17> kNames{{
    {"-np", kNumber},
    {"--np", kNumber},
    {"-N", kNumber},
    {"-npernode", kNumber},
    {"--npernode", kNumber},
    {"-ppn", kNumber},
    {"--ppn", kNumber},
    {"-perhost", kNumber},
    {"-H", kHosts},
    {"-host", kHosts},
    {"-hosts", kHosts},
    {"-f", kHostfile},
    {"-hostfile", kHostfile},
    {"-machinefile", kHostfile},
    {"--machinefile", kHostfile},
    {"-env", kVariable},
    {"-genv", kVariable},
}};

}  // namespace

std::string_view in_place_of_mpi_name(const std::string& word) {
  const std::string_view name = std::string_view(word).substr(0, word.find_first_of("=0123456789"));
  const auto found = std::ranges::find(kNames, name, &decltype(kNames)::value_type::first);
  return found == kNames.end() ? std::string_view() : found->second;
}

}  // namespace ddprun::cli
