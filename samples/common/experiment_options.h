// The options that the experiments of the articles share.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "samples/common/image_source.h"
#include "samples/common/option_table.h"
#include "samples/common/training_run.h"

namespace samples {

struct ExperimentOptions {
  std::vector<int> workers{1, 2, 4};
  TrainingPlan one;  // what a single worker does
  std::string scaling = "fixed";
  int images = 1'000'000;  // at most so many for training
  digits::ImageSource source;
  bool help = false;
};

// Fills `options`, whose values are the defaults. `more` adds the sample's own options. Throws
// std::invalid_argument.
void parse_experiment(const std::vector<std::string>& arguments, ExperimentOptions& options,
                      const std::function<void(OptionTable&)>& more = {});

// The lines of --help for them, with the defaults.
std::string experiment_help(const ExperimentOptions& defaults);

// The first `count` images.
digits::LabeledImages first_images(digits::LabeledImages images, int count);

// A main: parses, answers --help, and turns a wrong option into one line and exit code 2, any other
// exception into one line and exit code 1.
int run_sample(const char* name, int argc, char** argv,
               const std::function<int(const std::vector<std::string>&)>& body);

}  // namespace samples
