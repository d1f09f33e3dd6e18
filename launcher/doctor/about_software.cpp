#include <algorithm>
#include <charconv>

#include "launcher/devices/gpu_processes.h"
#include "launcher/doctor/findings.h"

namespace ddprun::doctor {
namespace {

int leading_number(std::string_view text) {
  int number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

std::string with_driver(std::string text, const Facts& facts) {
  return facts.driver.empty() ? text : text + ", driver " + facts.driver;
}

std::string names_of(const std::vector<devices::Gpu>& gpus) {
  std::string text = plural(gpus.size(), "GPU") + ": " + gpus.front().name;
  const bool all_alike = std::ranges::all_of(
      gpus, [&](const devices::Gpu& gpu) { return gpu.name == gpus.front().name; });
  return all_alike ? text : text + " and others";
}

Finding gpus(const Facts& facts) {
  const devices::NodeGpus& found = facts.gpus;
  if (facts.gpus_timed_out)
    return {Verdict::problem, "GPUs", with_driver("the driver does not answer", facts),
            "nvidia-smi will hang too; see dmesg for Xid errors, restart the node"};
  if (found.failed)
    return {Verdict::problem, "GPUs", with_driver(found.remark, facts),
            "nvidia-smi should list all GPUs of this node"};
  if (found.gpus.empty() && !facts.driver.empty())
    return {Verdict::warn, "GPUs", with_driver("none (" + found.remark + ")", facts),
            "a driver is loaded, so in a container the GPUs were not passed on (--gpus all)"};
  if (found.gpus.empty())
    return {Verdict::ok, "GPUs", "none (" + found.remark + "): workers run on the CPU", ""};
  const std::string text = with_driver(names_of(found.gpus), facts);
  for (const devices::Gpu& gpu : found.gpus)
    if (const std::string busy = devices::busy_text(gpu); !busy.empty())
      return {Verdict::warn, "GPUs", text + "; " + busy,
              "wait for it, or choose other GPUs with "
              "CUDA_VISIBLE_DEVICES"};
  return {Verdict::ok, "GPUs", text, ""};
}

Finding visible(const Facts& facts) {
  const devices::VisibleGpus& seen = facts.visible;
  if (!seen.list_given)
    return {Verdict::ok, "visible list", "CUDA_VISIBLE_DEVICES is not set: every GPU", ""};
  std::string text = "CUDA_VISIBLE_DEVICES='" + seen.list_text + "'";
  if (facts.gpus.gpus.empty()) return {Verdict::ok, "visible list", text + ", without GPUs", ""};
  std::vector<std::string> ids;
  for (const devices::Gpu& gpu : seen.gpus) ids.push_back(std::to_string(gpu.index));
  text += ids.empty() ? " shows no GPU" : " shows GPU ids " + joined(ids) + " as cuda:0 and on";
  if (!seen.warnings.empty())
    return {seen.gpus.empty() ? Verdict::problem : Verdict::warn, "visible list", text,
            seen.warnings.front()};
  return {Verdict::ok, "visible list", text, ""};
}

Finding torch(const Facts& facts) {
  const Torch& torch = facts.torch;
  if (torch.timed_out)
    return {Verdict::warn, "PyTorch", facts.python + " does not say which one it has",
            "its start hangs, mostly in a file system; so will that of the workers"};
  if (torch.version.empty())
    return {Verdict::ok, "PyTorch", facts.python.empty() ? "none seen" : "not in " + facts.python,
            ""};
  std::string text = torch.version + " in " + torch.folder;
  if (!torch.cuda.empty()) text += ", CUDA " + torch.cuda;
  const bool real_gpus = facts.gpus.source == devices::Source::nvml && !facts.gpus.gpus.empty();
  if (real_gpus && torch.cuda.empty())
    return {Verdict::warn, "PyTorch", text + ", without CUDA",
            "there are GPUs that it cannot use; install PyTorch with CUDA"};
  const int needed = driver_for_cuda(torch.cuda);
  if (real_gpus && !facts.driver.empty() && leading_number(facts.driver) < needed)
    return {Verdict::warn, "PyTorch", text,
            "this CUDA needs driver " + std::to_string(needed) + " or newer; here it is " +
                facts.driver};
  return {Verdict::ok, "PyTorch", text, ""};
}

Finding nccl(const Facts& facts) {
  std::string text;
  if (!facts.torch.nccl.empty()) text = facts.torch.nccl + " of PyTorch";
  if (!facts.nccl.empty()) text += (text.empty() ? "" : "; ") + facts.nccl + " of the system";
  if (!text.empty()) return {Verdict::ok, "NCCL", text, ""};
  if (facts.gpus.source != devices::Source::nvml || facts.gpus.gpus.empty())
    return {Verdict::ok, "NCCL", "none seen", ""};
  return {Verdict::warn, "NCCL", "none seen, but there are GPUs",
          "ranks on GPUs need libnccl.so.2; PyTorch with CUDA brings it"};
}

Finding python(const Facts& facts) {
  if (!facts.python.empty()) return {Verdict::ok, "python3", facts.python, ""};
  return {Verdict::warn, "python3", "not in PATH",
          "needed for .py programs only; PYTHON_EXEC names another"};
}

Finding hwloc(const Facts& facts) {
  if (facts.hwloc_failure.empty()) return {Verdict::ok, "hwloc", "--bind can be used", ""};
  return {Verdict::warn, "hwloc", facts.hwloc_failure, "only --bind needs it"};
}

Finding stack_tool(const Facts& facts) {
  if (!facts.stack_tool.empty()) return {Verdict::ok, "stacks", "with " + facts.stack_tool, ""};
  return {Verdict::warn, "stacks", "neither eu-stack nor gdb is in PATH",
          "one of them shows where a hung rank is; Debian: apt install elfutils"};
}

}  // namespace

int driver_for_cuda(std::string_view cuda) {
  switch (leading_number(cuda)) {
    case 13:
      return 580;
    case 12:
      return 525;
    case 11:
      return 450;
    default:
      return 0;
  }
}

std::vector<Finding> about_software(const Facts& facts) {
  return {gpus(facts),   visible(facts), torch(facts),     nccl(facts),
          python(facts), hwloc(facts),   stack_tool(facts)};
}

}  // namespace ddprun::doctor
