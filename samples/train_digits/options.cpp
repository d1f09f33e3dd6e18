#include "samples/train_digits/options.h"

#include <charconv>
#include <functional>
#include <map>
#include <stdexcept>

namespace digits {
namespace {

template <typename Number>
Number parse_positive(const std::string& option, const std::string& text, const char* expected) {
  Number number{};
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool all = parsed.ec == std::errc() && parsed.ptr == text.data() + text.size();
  // Written so that it also refuses NaN.
  if (!all || !(number > 0) || number > Number{1'000'000}) {
    throw std::invalid_argument(option + ": expected " + expected + ", found '" + text + "'");
  }
  return number;
}

}  // namespace

const char* const kHelp = R"(Trains LeNet on handwritten digits, on all ranks together.

  ddprun -n 2 train_digits [options]

  --epochs N       passes over the training images (15)
  --batch-size N   images that each rank takes at a time (32)
  --lr X           learning rate of Adam, falling to 0 (0.002)
  --save FILE      where rank 0 saves the model (train_digits.pt)
  --data DIR       train on MNIST or Fashion-MNIST: the folder with
                   train-images-idx3-ubyte, train-labels-idx1-ubyte and the two
                   of t10k, each as it is or as .gz
  --digits FILE    scikit-learn's digits.csv.gz ($DIGITS_CSV, else
                   ~/.cache/ddprun/digits/digits.csv.gz)
  --help           this text
)";

Options parse_options(const std::vector<std::string>& arguments) {
  Options options;
  const char* const count = "a whole number from 1 to 1000000";
  const std::map<std::string, std::function<void(const std::string&, const std::string&)>> known = {
      {"--epochs",
       [&](auto& name, auto& text) { options.epochs = parse_positive<int>(name, text, count); }},
      {"--batch-size",
       [&](auto& name, auto& text) {
         options.batch_size = parse_positive<int>(name, text, count);
       }},
      {"--lr",
       [&](auto& name, auto& text) {
         options.learning_rate = parse_positive<double>(name, text, "a number above 0");
       }},
      {"--save", [&](auto&, auto& text) { options.save = text; }},
      {"--data", [&](auto&, auto& text) { options.data = text; }},
      {"--digits", [&](auto&, auto& text) { options.digits = text; }},
  };
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const auto& word = arguments[i];
    if (word == "--help" || word == "-h") {
      options.help = true;
      continue;
    }
    const auto equals = word.find('=');
    const auto name = word.substr(0, equals);
    const auto option = known.find(name);
    if (option == known.end())
      throw std::invalid_argument("unknown option '" + word + "'; --help lists them");
    if (equals == word.npos && i + 1 == arguments.size())
      throw std::invalid_argument(name + ": expected a value after it");
    const auto value = equals == word.npos ? arguments[++i] : word.substr(equals + 1);
    if (value.empty()) throw std::invalid_argument(name + ": expected a value, found an empty one");
    option->second(name, value);
  }
  if (!options.data.empty() && !options.digits.empty()) {
    throw std::invalid_argument("--data and --digits: expected one of them, found both");
  }
  return options;
}

}  // namespace digits
