#include "rendezvous/http/worker_texts.h"

#include <charconv>
#include <optional>
#include <string_view>

namespace ddprun::http {
namespace {

using protocol::Started;

constexpr std::size_t kPartsShown = 16;

// "GPU 4" is {"GPU ", 4}.
struct Device {
  std::string_view name;
  std::optional<int> number;
};

Device split(std::string_view text) {
  const std::size_t digits = text.find_last_not_of("0123456789") + 1;
  int number = 0;
  const auto [end, error] =
      std::from_chars(text.data() + digits, text.data() + text.size(), number);
  if (error != std::errc()) return {text, {}};
  return {text.substr(0, digits), number};
}

// Devices that stand for `count` workers: all `first`, or counted up from it.
struct Part {
  Device first;
  int count = 1;
  bool counts_up = false;

  bool takes(const Device& next) {
    const bool same = next.name == first.name && next.number == first.number;
    const bool above = next.name == first.name && next.number && first.number &&
                       *next.number - *first.number == count;
    if (count == 1) counts_up = above;
    if (counts_up ? !above : !same) return false;
    ++count;
    return true;
  }
};

void append(std::string& text, const Part& part, std::string_view name_before) {
  if (!text.empty()) text += ", ";
  if (part.count > 1 && !part.counts_up) text += std::to_string(part.count) + " × ";
  if (!part.first.number) return void(text += part.first.name);
  const bool said = part.first.name == name_before && (part.count == 1 || part.counts_up);
  if (!said) text += part.first.name;
  text += std::to_string(*part.first.number);
  if (part.counts_up) text += "–" + std::to_string(*part.first.number + part.count - 1);
}

std::string parts_text(const std::vector<Device>& devices) {
  std::vector<Part> parts;
  for (const Device& each : devices)
    if (parts.empty() || !parts.back().takes(each)) parts.push_back({each});
  std::string text;
  std::size_t more = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i < kPartsShown)
      append(text, parts[i], i == 0 ? std::string_view() : parts[i - 1].first.name);
    else
      more += static_cast<std::size_t>(parts[i].count);
  }
  return more == 0 ? text : text + " and " + std::to_string(more) + " more";
}

}  // namespace

std::string devices_text(const std::vector<Started::Worker>& workers) {
  std::vector<Device> devices;
  for (const Started::Worker& each : workers) devices.push_back(split(each.device));
  return parts_text(devices);
}

std::string pids_text(const std::vector<Started::Worker>& workers) {
  std::vector<Device> pids;
  for (const Started::Worker& each : workers) pids.push_back({"", each.pid});
  return parts_text(pids);
}

}  // namespace ddprun::http
