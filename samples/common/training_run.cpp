#include "samples/common/training_run.h"

#include <sched.h>

#include <fstream>
#include <iomanip>
#include <limits>
#include <sstream>
#include <stdexcept>

#include "samples/common/text_table.h"

namespace samples {

TrainingPlan scale(const TrainingPlan& one, int workers, const std::string& scaling) {
  TrainingPlan plan = one;
  plan.workers = workers;
  if (scaling == "linear") {
    plan.batch_size *= workers;
    plan.learning_rate *= workers;
  }
  return plan;
}

void write_result(const std::string& path, const TrainingResult& result) {
  std::ofstream file(path);
  file << std::setprecision(std::numeric_limits<double>::max_digits10) << result.seconds_per_epoch
       << ' ' << result.loss << ' ' << result.accuracy << '\n';
  file.close();
  if (!file) throw std::runtime_error(path + ": the result of the run could not be written");
}

TrainingResult read_result(const std::string& path) {
  std::ifstream file(path);
  TrainingResult result;
  if (!(file >> result.seconds_per_epoch >> result.loss >> result.accuracy)) {
    throw std::runtime_error(path + ": expected the three numbers of a result, found none");
  }
  return result;
}

std::vector<std::string> result_head() {
  return {"", "workers", "batch", "lr", "s/epoch", "loss", "test accuracy", "device"};
}

std::vector<std::string> result_line(const std::string& name, const TrainingPlan& plan,
                                     const TrainingResult& result, const std::string& device) {
  std::ostringstream rate;
  rate << plan.learning_rate;
  return {name,
          std::to_string(plan.workers),
          std::to_string(plan.batch_size),
          rate.str(),
          fixed(result.seconds_per_epoch, 2),
          fixed(result.loss, 4),
          fixed(result.accuracy, 3),
          device};
}

std::string machine_size() {
  cpu_set_t set;
  const int cores = ::sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
  return std::to_string(cores) + (cores == 1 ? " CPU core" : " CPU cores");
}

}  // namespace samples
