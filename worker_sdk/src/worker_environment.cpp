#include "worker_sdk/src/worker_environment.h"

#include <charconv>
#include <cstdlib>
#include <vector>

#include "ddp/environment.h"
#include "ddp/error.h"

namespace ddp::detail {
namespace {

constexpr const char* kHowToStart =
    "Start the program with a launcher: ddprun -n 2 PROGRAM, or torchrun --nproc-per-node 2 "
    "--no-python PROGRAM. By hand, set RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT for each "
    "process.";

std::optional<int> to_integer(const std::string& text) {
  int number = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || rest != end) return std::nullopt;
  return number;
}

std::string value_or_empty(const Lookup& lookup, const std::string& name) {
  return lookup(name).value_or("");
}

std::string join(const std::vector<std::string>& parts, const std::string& last_separator) {
  std::string text;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) text += i + 1 == parts.size() ? last_separator : ", ";
    text += parts[i];
  }
  return text;
}

// Collects what is wrong, so that the user hears of everything at once.
class Reader {
 public:
  explicit Reader(const Lookup& lookup) : lookup_(lookup) {}

  std::string text(const std::string& name) {
    std::string value = value_or_empty(lookup_, name);
    if (value.empty()) missing_.push_back(name);
    return value;
  }

  // -1 if there is something wrong with it.
  int number(const std::string& name, int smallest, int largest, const std::string& meaning) {
    const std::string value = text(name);
    if (value.empty()) return -1;
    const std::optional<int> number = to_integer(value);
    if (number && *number >= smallest && *number <= largest) return *number;
    wrong_.push_back(name + "=" + value + " is not " + meaning);
    return -1;
  }

  void add(const std::string& problem) { wrong_.push_back(problem); }

  void throw_if_wrong(int rank) const {
    std::vector<std::string> problems;
    if (!missing_.empty()) {
      problems.push_back(join(missing_, " and ") + (missing_.size() == 1 ? " is" : " are") +
                         " not set");
    }
    problems.insert(problems.end(), wrong_.begin(), wrong_.end());
    if (problems.empty()) return;
    throw Error(rank, "init_process_group: " + join(problems, ", and ") + ". " + kHowToStart);
  }

 private:
  const Lookup& lookup_;
  std::vector<std::string> missing_, wrong_;
};

constexpr int kManyRanks = 1 << 24;

// A number may be given as an option and in the URL, but not two different ones. -1: not given.
int one_of(Reader& reader, const std::string& name, int option, int in_url) {
  if (option >= 0 && in_url >= 0 && option != in_url) {
    reader.add(name + " is " + std::to_string(option) + " in the options but " +
               std::to_string(in_url) + " in init_method");
  }
  return option >= 0 ? option : in_url;
}

// A launcher's place of this rank on its node, where there is one. What is no number is said by
// whoever needs it.
void check_place_on_node(Reader& reader, const Lookup& lookup, int world_size) {
  const auto local_rank = to_integer(value_or_empty(lookup, "LOCAL_RANK"));
  const auto local_world_size = to_integer(value_or_empty(lookup, "LOCAL_WORLD_SIZE"));
  const std::string rank = "LOCAL_RANK=" + std::to_string(local_rank.value_or(0));
  const std::string size = "LOCAL_WORLD_SIZE=" + std::to_string(local_world_size.value_or(1));
  if (local_rank.value_or(0) < 0) reader.add(rank + " is not a rank");
  if (local_world_size.value_or(1) < 1) return reader.add(size + " is not a number of ranks");
  if (world_size > 0 && local_world_size.value_or(1) > world_size)
    reader.add(size + " is more than the " + std::to_string(world_size) + " of the whole world");
  if (local_rank && local_world_size && *local_rank >= *local_world_size)
    reader.add(rank + " does not exist with " + size);
}

void read_meeting_place(Reader& reader, const Lookup& lookup, const InitMethod& method,
                        WorkerEnvironment& result) {
  if (method.kind == InitMethod::Kind::kFile) {
    result.store_file = method.path;
    return;
  }
  // Exactly this spelling: it is what Python's ranks of the same job compare with.
  result.agent_store = value_or_empty(lookup, "TORCHELASTIC_USE_AGENT_STORE") == "True";
  if (method.kind == InitMethod::Kind::kTcp) {
    result.master_addr = method.host;
    result.master_port = method.port;
    result.from_url = true;
    // Under a launcher, too, rank 0 hosts a store that is not the launcher's.
    result.agent_store = result.agent_store &&
                         value_or_empty(lookup, "MASTER_ADDR") == method.host &&
                         value_or_empty(lookup, "MASTER_PORT") == std::to_string(method.port);
    return;
  }
  result.master_addr = reader.text("MASTER_ADDR");
  result.master_port =
      static_cast<std::uint16_t>(reader.number("MASTER_PORT", 1, 65535, "a port (1 to 65535)"));
}

}  // namespace

Lookup process_environment() {
  return [](const std::string& name) -> std::optional<std::string> {
    const char* value = std::getenv(name.c_str());
    return value ? std::optional<std::string>(value) : std::nullopt;
  };
}

WorkerEnvironment read_worker_environment(const Lookup& lookup, int rank, int world_size,
                                          const InitMethod& method) {
  Reader reader(lookup);
  WorkerEnvironment result;
  rank = one_of(reader, "rank", rank, method.rank);
  world_size = one_of(reader, "world_size", world_size, method.world_size);
  result.rank = rank >= 0 ? rank : reader.number("RANK", 0, kManyRanks, "a rank");
  result.world_size = world_size >= 0
                          ? world_size
                          : reader.number("WORLD_SIZE", 1, kManyRanks, "a number of ranks");
  read_meeting_place(reader, lookup, method, result);
  if (world_size == 0) reader.add("a world size of 0 has no ranks");
  if (result.world_size > 0 && result.rank >= result.world_size) {
    reader.add("rank " + std::to_string(result.rank) + " does not exist in a world of " +
               std::to_string(result.world_size) + " (0 to " +
               std::to_string(result.world_size - 1) + ")");
  }
  // The options may make a smaller world than the launcher's.
  if (world_size < 0) check_place_on_node(reader, lookup, result.world_size);
  reader.throw_if_wrong(result.rank);
  return result;
}

int integer_variable(const Lookup& lookup, const std::string& name, int fallback) {
  const std::string value = value_or_empty(lookup, name);
  if (value.empty()) return fallback;
  if (const std::optional<int> number = to_integer(value)) return *number;
  throw Error(rank_if_known(lookup), name + "=" + value + " is not a number");
}

int rank_if_known(const Lookup& lookup) {
  return to_integer(value_or_empty(lookup, "RANK")).value_or(-1);
}

}  // namespace ddp::detail

namespace ddp {

int local_rank() {
  return detail::integer_variable(detail::process_environment(), "LOCAL_RANK", 0);
}

int local_world_size() {
  return detail::integer_variable(detail::process_environment(), "LOCAL_WORLD_SIZE", 1);
}

int node_rank() {
  return detail::integer_variable(detail::process_environment(), "GROUP_RANK", 0);
}

int restart_count() {
  return detail::integer_variable(detail::process_environment(), "TORCHELASTIC_RESTART_COUNT", 0);
}

std::string run_id() {
  return detail::process_environment()("TORCHELASTIC_RUN_ID").value_or("");
}

}  // namespace ddp
