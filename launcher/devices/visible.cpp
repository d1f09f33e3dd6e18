#include "launcher/devices/visible.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <string_view>

namespace ddprun::devices {
namespace {

constexpr std::string_view kBlanks = " \t\n\v\f\r";

// One entry of the list after a first look, before anybody asks whether the device exists.
struct Entry {
  std::string_view text;
  long long number = -1;  // of a number; -1 otherwise
};

// What is wrong with an entry; the list ends before it.
struct Cut {
  std::size_t position = 0;
  std::string why;
};

enum class Form { numbers, gpu_names, mig_names };

Form form_of(std::string_view list) {
  if (list.starts_with("GPU-")) return Form::gpu_names;
  if (list.starts_with("MIG-")) return Form::mig_names;
  return Form::numbers;
}

std::vector<std::string_view> split(std::string_view list) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    parts.push_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

std::string_view trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

// As strtoul reads: an optional sign and digits, whatever comes behind. -1 where there is no
// number.
long long read_number(std::string_view text) {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  long long value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range)
    return text.starts_with('-') ? -1 : std::numeric_limits<long long>::max();
  return error == std::errc{} ? value : -1;
}

std::string why_no_number(std::string_view text) {
  if (text.empty()) return "is empty";
  if (text.starts_with("GPU-") || text.starts_with("MIG-"))
    return "is a name; a list is of numbers or of names";
  return read_number(text) < -1 || text.starts_with('-') ? "is negative" : "is not a number";
}

// Reads the list of one job.
class Reader {
 public:
  Reader(std::string_view list, const NodeGpus& node, VisibleGpus& result)
      : list_(list), node_(node), result_(result), form_(form_of(list)), parts_(split(list)) {}

  void read(ListFor list_for) {
    if (!take_entries() || !find_devices()) {
      result_.gpus.clear();
      result_.entries.clear();
      return;
    }
    if (cut_) warn_of_cut();
    if (form_ == Form::mig_names && result_.gpus.size() > 1 && list_for == ListFor::each_process)
      keep_first_mig_device();
  }

 private:
  void warn(const std::string& text) {
    result_.warnings.push_back("CUDA_VISIBLE_DEVICES='" + std::string(list_) + "' " + text);
  }

  // False: an entry is there twice. The driver looks for that before it looks for devices.
  bool take_entries() {
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const Entry entry = take(parts_[i]);
      const auto same = [&](const Entry& e) {
        return form_ == Form::numbers ? e.number == entry.number : e.text == entry.text;
      };
      if (std::ranges::any_of(entries_, same)) {
        warn_of_repetition(form_ == Form::numbers ? "GPU " + std::to_string(entry.number)
                                                  : std::string(entry.text));
        return false;
      }
      if (const std::string why = why_bad(entry); !why.empty()) {
        cut_ = Cut{i, why};
        return true;
      }
      entries_.push_back(entry);
    }
    return true;
  }

  Entry take(std::string_view part) const {
    if (form_ != Form::numbers) return {part};
    return {trimmed(part), read_number(trimmed(part))};
  }

  std::string why_bad(const Entry& entry) const {
    if (form_ == Form::numbers) return entry.number < 0 ? why_no_number(entry.text) : "";
    const std::string_view prefix = form_ == Form::gpu_names ? "GPU-" : "MIG-";
    if (entry.text.starts_with(prefix)) return "";
    if (entry.text.empty()) return "is empty";
    return "does not begin with " + std::string(prefix) + " as the first one does";
  }

  // False: two entries are one device.
  bool find_devices() {
    std::vector<const Gpu*> taken;
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      std::string why;
      const Gpu* gpu = form_ == Form::numbers ? by_number(entries_[i].number, why)
                                              : by_name(entries_[i].text, why);
      if (gpu == nullptr) {
        cut_ = Cut{i, why};
        break;
      }
      if (std::ranges::find(taken, gpu) != taken.end()) {
        warn_of_repetition("GPU " + std::to_string(gpu->index));
        return false;
      }
      taken.push_back(gpu);
      result_.gpus.push_back(*gpu);
      result_.entries.emplace_back(entries_[i].text);
      warn_of_loose_number(entries_[i]);
    }
    return true;
  }

  const Gpu* by_number(long long number, std::string& why) const {
    const auto gpu = std::ranges::find(node_.gpus, number, &Gpu::index);
    if (gpu != node_.gpus.end()) return &*gpu;
    why = "is no GPU of this node, which has " + std::to_string(node_.gpus.size());
    return nullptr;
  }

  const Gpu* by_name(std::string_view name, std::string& why) const {
    const auto& devices = form_ == Form::mig_names ? node_.mig_devices : node_.gpus;
    const Gpu* found = nullptr;
    for (const Gpu& gpu : devices) {
      if (!gpu.uuid.starts_with(name)) continue;
      if (found != nullptr) {
        why = "fits more than one device of this node";
        return nullptr;
      }
      found = &gpu;
    }
    if (found == nullptr) why = "is no device of this node";
    return found;
  }

  void warn_of_repetition(const std::string& device) {
    warn("names " + device + " twice: the driver then shows no GPU at all");
  }

  // "1gpu2" works, but hardly as its writer means it.
  void warn_of_loose_number(const Entry& entry) {
    const std::string_view digits = entry.text.substr(entry.text.starts_with('+') ? 1 : 0);
    if (form_ == Form::numbers && digits.find_first_not_of("0123456789") != std::string_view::npos)
      warn("has '" + std::string(entry.text) + "' in it, which is read as " +
           std::to_string(entry.number));
  }

  void warn_of_cut() {
    const auto blank = [](std::string_view part) { return trimmed(part).empty(); };
    // A comma at the end costs nothing.
    if (cut_->position > 0 && std::all_of(parts_.begin() + position(), parts_.end(), blank)) return;
    const std::string entry(parts_[cut_->position]);
    const bool last = cut_->position + 1 == parts_.size();
    warn("ends before its entry " + std::to_string(cut_->position + 1) + ", '" + entry +
         "', which " + cut_->why + (last ? "" : ": what is behind it is ignored as well"));
  }

  std::ptrdiff_t position() const { return static_cast<std::ptrdiff_t>(cut_->position); }

  void keep_first_mig_device() {
    warn("names " + std::to_string(result_.gpus.size()) +
         " MIG devices: the driver shows a process the first one only; --virtual-local-rank gives "
         "each worker one of its own");
    result_.gpus.resize(1);
    result_.entries.resize(1);
  }

  std::string_view list_;
  const NodeGpus& node_;
  VisibleGpus& result_;
  Form form_;
  std::vector<std::string_view> parts_;
  std::vector<Entry> entries_;
  std::optional<Cut> cut_;
};

// Numbers count the GPUs by speed unless the order is set, so on a mixed node they may mean other
// GPUs than ddprun's numbers.
bool numbers_are_doubtful(const VisibleGpus& result, const NodeGpus& node, DeviceOrder order) {
  if (order == DeviceOrder::pci_bus_id || form_of(result.list_text) != Form::numbers) return false;
  return std::ranges::any_of(node.gpus, [&](const Gpu& g) { return g.name != node.gpus[0].name; });
}

void warn_of_divided(VisibleGpus& result) {
  for (const Gpu& gpu : result.gpus) {
    if (!gpu.divided) continue;
    result.warnings.push_back(
        "GPU " + std::to_string(gpu.index) +
        " is divided (MIG): CUDA shows a process one of its parts at most; name "
        "it in CUDA_VISIBLE_DEVICES as MIG-...");
  }
}

}  // namespace

VisibleGpus visible(const std::optional<std::string>& list, const NodeGpus& node, DeviceOrder order,
                    ListFor list_for) {
  VisibleGpus result;
  result.list_given = list.has_value();
  result.list_text = list.value_or("");
  const std::string_view text = list ? trimmed(*list) : std::string_view();
  result.hides_all = list && (text.empty() || text == "-1" || text == "NoDevFiles");
  if (node.gpus.empty() || result.hides_all) return result;
  if (!list) {
    result.gpus = node.gpus;
    for (const Gpu& gpu : node.gpus) result.entries.push_back(std::to_string(gpu.index));
  } else {
    Reader(*list, node, result).read(list_for);
  }
  if (!result.gpus.empty() && numbers_are_doubtful(result, node, order)) {
    result.warnings.push_back(
        "this node has GPUs of different kinds, which CUDA numbers by speed and ddprun by PCI "
        "address: "
        "set CUDA_DEVICE_ORDER=PCI_BUS_ID to make the numbers agree");
  }
  warn_of_divided(result);
  return result;
}

}  // namespace ddprun::devices
