#include "samples/train_digits/options.h"

#include "samples/common/option_table.h"

namespace digits {

std::string help() {
  return std::string(R"(Trains LeNet on handwritten digits, on all ranks together.

  ddprun -n 2 train_digits [options]

  --epochs N       passes over the training images (15)
  --batch-size N   images that each rank takes at a time (32)
  --lr X           learning rate of Adam, falling to 0 (0.002)
  --save FILE      where rank 0 saves the model (train_digits.pt)
)") + kImageSourceHelp;
}

Options parse_options(const std::vector<std::string>& arguments) {
  Options options;
  samples::OptionTable table;
  table.count("--epochs", options.epochs);
  table.count("--batch-size", options.batch_size);
  table.positive("--lr", options.learning_rate);
  table.text("--save", options.save);
  options.images.add_options(table);
  options.help = table.parse(arguments);
  options.images.check();
  return options;
}

}  // namespace digits
