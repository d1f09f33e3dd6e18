#include "launcher/cluster/allocation.h"
#include "launcher/cluster/variables.h"

namespace ddprun::cluster {
namespace {

// The variables with which a launcher tells a process its number; empty is what it does not say.
struct Family {
  std::string_view rank;
  std::string_view size;
  std::string_view processes_on_host;
};

// The first that is there counts: Flux speaks PMI as well, and Open MPI's processes have PMIx too.
constexpr Family kFamilies[] = {
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE"},
    {"JSM_NAMESPACE_RANK", "JSM_NAMESPACE_SIZE", "JSM_NAMESPACE_LOCAL_SIZE"},
    {"FLUX_TASK_RANK", "FLUX_JOB_SIZE", ""},
    {"PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS"},
    {"PMIX_RANK", "", ""},
    {"PBS_NODENUM", "PBS_NUM_NODES", ""},
};

const Family* family_of(const Variables& variables) {
  for (const Family& family : kFamilies)
    if (text_of(variables, {family.rank})) return &family;
  return nullptr;
}

using Number = Result<std::optional<Sourced<int>>>;

Number optional_number(const Variables& variables, std::string_view name) {
  return name.empty() ? Number(std::nullopt) : number_of(variables, {name}, 1);
}

// Flux says how many nodes there are, not how many tasks each has.
Number processes_on_host(const Variables& variables, const Family& family,
                         const std::optional<Sourced<int>>& size) {
  if (family.rank != "FLUX_TASK_RANK") return optional_number(variables, family.processes_on_host);
  const Number hosts = optional_number(variables, "FLUX_JOB_NNODES");
  if (!hosts || !*hosts || !size) return hosts;
  const int most = (size->value + (*hosts)->value - 1) / (*hosts)->value;
  return std::optional(Sourced<int>{most, "FLUX_JOB_SIZE / FLUX_JOB_NNODES"});
}

}  // namespace

Result<Allocation> read_mpi(const Variables& variables) {
  const Family* family = family_of(variables);
  if (family == nullptr)
    return Error{
        "none of OMPI_COMM_WORLD_RANK, JSM_NAMESPACE_RANK, FLUX_TASK_RANK, PMI_RANK, PMIX_RANK and "
        "PBS_NODENUM is set, so this process was not started by an MPI launcher; start one ddprun "
        "on each node with mpirun"};
  const Number rank = number_of(variables, {family->rank});
  if (!rank) return rank.error();
  const Number size = optional_number(variables, family->size);
  if (!size) return size.error();
  const Number on_host = processes_on_host(variables, *family, *size);
  if (!on_host) return on_host.error();
  if (*size && (*rank)->value >= (*size)->value)
    return Error{shown(**rank) + " and " + shown(**size) + " contradict each other"};
  Allocation allocation;
  allocation.nodes = *size;
  allocation.node_rank = *rank;
  allocation.processes_on_host = *on_host;
  allocation.run_id = text_of(variables, {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "FLUX_JOB_ID",
                                          "PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid"});
  return allocation;
}

}  // namespace ddprun::cluster
