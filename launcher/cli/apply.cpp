#include "launcher/cli/apply.h"

#include "launcher/cli/signal_list.h"
#include "launcher/cli/values.h"

namespace ddprun::cli::apply {

Reading nproc_per_node(const std::string& value, Settings& settings) {
  return store(read_worker_count(value), settings.job.workers);
}

Reading role(const std::string& value, Settings& settings) {
  settings.job.role = value;
  return taken();
}

Reading device(const std::string& value, Settings& settings) {
  if (value == "auto")
    settings.job.device = DeviceChoice::automatic;
  else if (value == "cuda")
    settings.job.device = DeviceChoice::cuda;
  else if (value == "cpu")
    settings.job.device = DeviceChoice::cpu;
  else
    return wrong("'" + value + "' is not a device; write auto, cuda or cpu");
  return taken();
}

Reading simulate_gpus(const std::string& value, Settings& settings) {
  return store(read_integer(value, 0, kMostSimulatedGpus), settings.job.simulated_gpus);
}

Reading shutdown_timeout(const std::string& value, Settings& settings) {
  return store(read_seconds(value), settings.job.shutdown_timeout);
}

Reading max_restarts(const std::string& value, Settings& settings) {
  return store(read_integer(value, 0, kMostRestarts), settings.job.max_restarts);
}

Reading bind(const std::string& value, Settings& settings) {
  static constexpr Choice<BindMode> kModes[] = {{"none", BindMode::none},
                                                {"node", BindMode::node},
                                                {"socket", BindMode::socket},
                                                {"exclusive", BindMode::exclusive},
                                                {"core-complex", BindMode::core_complex},
                                                {"cores", BindMode::cores}};
  return store(read_choice<BindMode>(value, kModes), settings.job.bind);
}

Reading threads(const std::string& value, Settings& settings) {
  using Kind = ThreadCount::Kind;
  if (value == "auto") {
    settings.job.threads = {Kind::automatic, 0};
    return taken();
  }
  const Result<int> number = read_integer(value, 1, kMostThreads);
  if (!number) return wrong(number.error().text + ", or auto");
  settings.job.threads = {Kind::number, *number};
  return taken();
}

Reading signals_to_handle(const std::string& value, Settings& settings) {
  return store(read_signals(value), settings.job.signals_to_handle);
}

Reading restart_backoff(const std::string& value, Settings& settings) {
  return store(read_seconds(value), settings.job.restart_backoff);
}

}  // namespace ddprun::cli::apply
