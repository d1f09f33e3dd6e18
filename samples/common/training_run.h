// One run of an experiment: what it was asked to do and how it went.
#pragma once

#include <string>
#include <vector>

namespace samples {

struct TrainingPlan {
  int workers = 1;
  int batch_size = 1;  // of all workers together
  double learning_rate = 0;
  int epochs = 1;
};

// What `workers` workers do if one takes this batch and rate. "fixed": the same batch, cut into
// parts. "linear": batch and rate times the number of workers, so that each has as much to do as
// the one.
TrainingPlan scale(const TrainingPlan& one, int workers, const std::string& scaling);

struct TrainingResult {
  double seconds_per_epoch = 0;
  double loss = 0;      // of the last epoch, mean over its images
  double accuracy = 0;  // of the test images, 0 to 1
};

// How a worker process tells the one that started it. Reading throws std::runtime_error if the file
// is not as write_result makes it.
void write_result(const std::string& path, const TrainingResult& result);
TrainingResult read_result(const std::string& path);

// The head of the table, and one line of it.
std::vector<std::string> result_head();
std::vector<std::string> result_line(const std::string& name, const TrainingPlan& plan,
                                     const TrainingResult& result, const std::string& device);

// "16 CPU cores": those this process may use.
std::string machine_size();

}  // namespace samples
