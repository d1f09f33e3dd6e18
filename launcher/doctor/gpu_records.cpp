#include "launcher/doctor/gpu_records.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value_to.hpp>

#include "launcher/report/json_text.h"

namespace ddprun::doctor {
namespace {

namespace json = boost::json;
using report::utf8;

json::array processes_json(const devices::Gpu& gpu) {
  json::array all;
  for (const devices::GpuProcess& process : gpu.processes)
    all.push_back({{"pid", process.pid},
                   {"memory", process.memory ? json::value(*process.memory) : json::value()},
                   {"command", utf8(process.command)},
                   {"user", utf8(process.user)},
                   {"orphan", process.orphan}});
  return all;
}

json::array gpus_json(const std::vector<devices::Gpu>& gpus) {
  json::array all;
  for (const devices::Gpu& gpu : gpus)
    all.push_back({{"index", gpu.index},
                   {"uuid", utf8(gpu.uuid)},
                   {"pci_address", utf8(gpu.pci_address)},
                   {"name", utf8(gpu.name)},
                   {"divided", gpu.divided},
                   {"processes", processes_json(gpu)}});
  return all;
}

std::string text_of(const json::value& value) {
  return json::value_to<std::string>(value);
}

std::vector<devices::GpuProcess> processes_of(const json::value& value) {
  std::vector<devices::GpuProcess> all;
  for (const json::value& each : value.as_array()) {
    devices::GpuProcess process{.pid = each.at("pid").to_number<pid_t>()};
    if (!each.at("memory").is_null())
      process.memory = each.at("memory").to_number<unsigned long long>();
    process.command = text_of(each.at("command"));
    process.user = text_of(each.at("user"));
    process.orphan = each.at("orphan").as_bool();
    all.push_back(std::move(process));
  }
  return all;
}

std::vector<devices::Gpu> gpus_of(const json::value& value) {
  std::vector<devices::Gpu> all;
  for (const json::value& each : value.as_array())
    all.push_back({.index = each.at("index").to_number<int>(),
                   .uuid = text_of(each.at("uuid")),
                   .pci_address = text_of(each.at("pci_address")),
                   .name = text_of(each.at("name")),
                   .divided = each.at("divided").as_bool(),
                   .processes = processes_of(each.at("processes"))});
  return all;
}

}  // namespace

std::string gpu_records(const devices::NodeGpus& gpus) {
  return json::serialize(json::object{{"source", static_cast<int>(gpus.source)},
                                      {"remark", utf8(gpus.remark)},
                                      {"failed", gpus.failed},
                                      {"gpus", gpus_json(gpus.gpus)},
                                      {"mig_devices", gpus_json(gpus.mig_devices)}});
}

std::optional<devices::NodeGpus> read_gpu_records(std::string_view text) {
  try {
    const json::value value = json::parse({text.data(), text.size()});
    return devices::NodeGpus{
        .source = static_cast<devices::Source>(value.at("source").to_number<int>()),
        .gpus = gpus_of(value.at("gpus")),
        .remark = text_of(value.at("remark")),
        .failed = value.at("failed").as_bool(),
        .mig_devices = gpus_of(value.at("mig_devices"))};
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

}  // namespace ddprun::doctor
