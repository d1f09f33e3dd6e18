// DataParallel against DistributedDataParallel: the same demo in both forms.
//
//     build/bin/samples/dp_versus_ddp
//
// One batch, one model. data_parallel cuts the batch inside one process; with DDP each process has
// its own part. Both leave the gradient of the whole batch in the parameters: DDP's is the average
// over the ranks, not the sum. Then rank 0 saves the model and every rank loads it to its own
// device.
#include <ddp/ddp.h>
#include <torch/torch.h>

#include <cmath>
#include <cstdio>
#include <stdexcept>

#include "samples/common/devices.h"
#include "samples/common/experiment_options.h"
#include "samples/common/scratch_folder.h"
#include "samples/common/text_table.h"

namespace versus {
namespace {

constexpr int kInputs = 10, kOutputs = 5;

struct ToyModelImpl : torch::nn::Cloneable<ToyModelImpl> {
  ToyModelImpl() { ToyModelImpl::reset(); }
  void reset() override {
    net1 = register_module("net1", torch::nn::Linear(kInputs, 10));
    net2 = register_module("net2", torch::nn::Linear(10, kOutputs));
  }
  torch::Tensor forward(const torch::Tensor& x) {
    const auto output = net2(torch::relu(net1(x)));
    std::printf("  in the model: input size [%ld, %d], output size [%ld, %d]\n",
                static_cast<long>(x.size(0)), kInputs, static_cast<long>(output.size(0)), kOutputs);
    return output;
  }
  torch::nn::Linear net1{nullptr}, net2{nullptr};
};
TORCH_MODULE(ToyModel);

// The same in every process.
struct Demo {
  explicit Demo(int batch_size) {
    torch::manual_seed(1);
    model = ToyModel();
    input = torch::randn({batch_size, kInputs});
    target = torch::randn({batch_size, kOutputs});
  }
  ToyModel model{nullptr};
  torch::Tensor input, target;
};

// The gradient that the mean over a batch leaves in the first layer.
torch::Tensor gradient_after(ToyModel& model, const torch::Tensor& output,
                             const torch::Tensor& target) {
  model->zero_grad();
  torch::mse_loss(output, target.to(output.device())).backward();
  return model->net1->weight.grad().cpu().clone();
}

// ---- one process ----

torch::Tensor demo_data_parallel(int replicas, int batch_size) {
  const auto devices = samples::worker_devices(replicas);
  Demo demo(batch_size);
  demo.model->to(devices[0]);
  std::printf("DataParallel: one process, %d replicas on the %s\n", replicas,
              samples::device_kind(replicas).c_str());
  const auto output = ddp::data_parallel(demo.model, demo.input, devices);
  std::printf("  outside: output size [%ld, %d]\n", static_cast<long>(output.size(0)), kOutputs);
  return gradient_after(demo.model, output, demo.target);
}

// ---- a process for each rank ----

// What rank 0 found out, as a file that the parent reads.
struct Findings {
  torch::Tensor ddp, sum_of_own, mean_of_own;
};

Findings demo_gradients(int rank, int nprocs, int batch_size) {
  Demo demo(batch_size);
  const auto device = ddp::local_device();
  ddp::DistributedDataParallel<ToyModel> model(demo.model, {.device = device});
  const auto x = demo.input.chunk(nprocs)[rank], y = demo.target.chunk(nprocs)[rank];
  Findings found;
  {
    const auto alone = model->no_sync();  // each rank's own gradient
    found.sum_of_own = gradient_after(demo.model, model->forward(x), y).to(device);
  }
  ddp::all_reduce(found.sum_of_own);
  found.sum_of_own = found.sum_of_own.cpu();
  found.mean_of_own = found.sum_of_own / nprocs;
  found.ddp = gradient_after(demo.model, model->forward(x), y);
  return found;
}

// Rank 0 saves; every rank loads, to its own device whatever the file was saved from, and says the
// sum of what it has.
void demo_checkpoint(int rank, const std::string& path) {
  torch::manual_seed(100 + rank);  // other weights on each rank
  ToyModel model;
  model->to(ddp::local_device());
  ddp::save_on_rank0(path, ddp::state_dict(model));
  ddp::load_state_dict(model, ddp::load_on_all(path).dict());
  const double sum = model->net1->weight.abs().sum().item<double>();
  std::printf("  rank %d loaded what rank 0 saved, to %s: sum of weights %.6f\n", rank,
              ddp::describe_device().c_str(), sum);
}

void demo_ddp(int rank, int nprocs, int batch_size, const std::string& save,
              const std::string& findings_file) {
  ddp::init_process_group();
  if (rank == 0) std::printf("DistributedDataParallel: %d processes\n", ddp::get_world_size());
  const auto found = demo_gradients(rank, nprocs, batch_size);
  demo_checkpoint(rank, save);
  if (rank == 0) {
    ddp::save(findings_file, ddp::Dict{{"ddp", found.ddp},
                                       {"sum_of_own", found.sum_of_own},
                                       {"mean_of_own", found.mean_of_own}});
  }
  ddp::destroy_process_group();
}
const ddp::SpawnWorker demo_worker("demo_ddp", demo_ddp);

ddp::Value spawn_demo(int nprocs, int batch_size, const std::string& save) {
  const samples::ScratchFolder folder;
  const std::string file = folder / "findings.pt";
  const samples::SpawnedDevices devices(nprocs);
  std::fflush(stdout);  // before the lines of the processes
  ddp::spawn(nprocs, "demo_ddp", nprocs, batch_size, save, file);
  return ddp::load(file);
}

// ---- the comparison ----

struct Row {
  const char* name;
  torch::Tensor gradient;
};

bool is(const torch::Tensor& gradient, const torch::Tensor& plain) {
  return torch::allclose(gradient, plain, 1e-4, 1e-6);
}

void print_table(const std::vector<Row>& rows) {
  std::vector<std::vector<std::string>> table{
      {"gradient of the first layer", "norm", "of plain", "largest difference"}};
  const auto& plain = rows[0].gradient;
  for (const auto& row : rows) {
    const double norm = row.gradient.norm().item<double>();
    char difference[32];
    std::snprintf(difference, sizeof difference, "%.1e",
                  (row.gradient - plain).abs().max().item<double>());
    table.push_back({row.name, samples::fixed(norm, 6),
                     samples::fixed(norm / plain.norm().item<double>(), 3), difference});
  }
  std::fputs(samples::text_table(table).c_str(), stdout);
}

int compare(int nprocs, int batch_size, const std::string& save) {
  const auto parallel = demo_data_parallel(nprocs, batch_size);
  const auto found = spawn_demo(nprocs, batch_size, save);
  Demo demo(batch_size);
  std::printf("Without either\n");
  const auto plain = gradient_after(demo.model, demo.model->forward(demo.input), demo.target);
  const auto of = [&](const char* name) { return found[name].tensor(); };
  print_table({{"plain, whole batch", plain},
               {"data_parallel", parallel},
               {"DDP", of("ddp")},
               {"mean of the ranks' own", of("mean_of_own")},
               {"sum of the ranks' own", of("sum_of_own")}});
  const bool averaged = is(of("ddp"), of("mean_of_own")) && is(of("ddp"), plain);
  std::printf("DDP's gradient is the average over the ranks, that of the whole batch: %s\n",
              averaged ? "yes" : "NO");
  return averaged && is(parallel, plain) ? 0 : 1;
}

int run(const std::vector<std::string>& arguments) {
  int nprocs = 2, batch_size = 20;
  std::string save = "dp_versus_ddp.pt";
  samples::OptionTable table;
  table.count("--nprocs", nprocs);
  table.count("--batch-size", batch_size);
  table.text("--save", save);
  if (table.parse(arguments)) {
    std::puts(
        "The same demo with data_parallel and with DistributedDataParallel.\n\n"
        "  dp_versus_ddp [options]\n\n"
        "  --nprocs N       replicas, and processes (2)\n"
        "  --batch-size N   samples of all together, a multiple of N (20)\n"
        "  --save FILE      where rank 0 saves the model (dp_versus_ddp.pt)\n"
        "  --help           this text");
    return 0;
  }
  if (batch_size % nprocs != 0) {
    // The average over parts of unequal size is not that of the whole batch.
    throw std::invalid_argument("--batch-size: expected a multiple of " + std::to_string(nprocs) +
                                ", the number of processes, found '" + std::to_string(batch_size) +
                                "'");
  }
  return compare(nprocs, batch_size, save);
}

}  // namespace
}  // namespace versus

int main(int argc, char** argv) {
  ddp::run_if_spawned();
  return samples::run_sample("dp_versus_ddp", argc, argv, versus::run);
}
