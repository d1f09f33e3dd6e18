#include "samples/common/experiment_options.h"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <sstream>
#include <stdexcept>

namespace samples {

void parse_experiment(const std::vector<std::string>& arguments, ExperimentOptions& options,
                      const std::function<void(OptionTable&)>& more) {
  OptionTable table;
  table.counts("--workers", options.workers);
  table.count("--batch-size", options.one.batch_size);
  table.positive("--lr", options.one.learning_rate);
  table.count("--epochs", options.one.epochs);
  table.word("--scaling", options.scaling, {"fixed", "linear"});
  table.count("--images", options.images);
  options.source.add_options(table);
  if (more) more(table);
  options.help = table.parse(arguments);
  options.source.check();
  for (const int workers : options.workers) {
    const int batch = scale(options.one, workers, options.scaling).batch_size;
    if (batch < workers) {
      throw std::invalid_argument("--batch-size: expected at least one image for each of " +
                                  std::to_string(workers) + " workers, found '" +
                                  std::to_string(batch) + "'");
    }
  }
}

std::string experiment_help(const ExperimentOptions& defaults) {
  std::ostringstream text;
  text << "  --workers LIST   numbers of workers to compare (1,2,4)\n"
       << "  --batch-size N   images in a batch of one worker (" << defaults.one.batch_size << ")\n"
       << "  --lr X           learning rate of one worker (" << defaults.one.learning_rate << ")\n"
       << "  --epochs N       passes over the training images (" << defaults.one.epochs << ")\n"
       << "  --scaling WORD   fixed: more workers share the same batch; linear: batch and\n"
       << "                   learning rate times the number of workers (fixed)\n"
       << "  --images N       train on the first N images only (all)\n"
       << digits::kImageSourceHelp;
  return text.str();
}

digits::LabeledImages first_images(digits::LabeledImages images, int count) {
  const auto kept = std::min(images.size(), static_cast<std::size_t>(count));
  images.pixels.resize(kept * images.rows * images.columns);
  images.labels.resize(kept);
  return images;
}

int run_sample(const char* name, int argc, char** argv,
               const std::function<int(const std::vector<std::string>&)>& body) {
  try {
    return body({argv + 1, argv + argc});
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "%s: %s\n", name, error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", name, error.what());
    return 1;
  }
}

}  // namespace samples
