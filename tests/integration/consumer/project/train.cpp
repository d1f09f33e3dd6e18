// Two steps of training, after which all ranks must have the same weights.
#include <ddp/ddp.h>
#include <torch/nn/modules/linear.h>
#include <torch/optim/sgd.h>

#include <cstdio>

int main() {
  ddp::init_process_group();
  torch::manual_seed(ddp::rank());
  torch::nn::Linear layer(4, 2);
  ddp::DistributedDataParallel<torch::nn::Linear> model(layer, {.device = ddp::local_device()});
  torch::optim::SGD optimizer(model->parameters(), 0.1);
  for (int step = 0; step < 2; ++step) {
    auto loss = model->forward(torch::randn({3, 4})).pow(2).mean();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
  std::printf("rank %d of %d: weights %.9g\n", ddp::rank(), ddp::world_size(),
              layer->weight.sum().item<double>());
  ddp::destroy_process_group();
}
