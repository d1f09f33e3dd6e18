// The recorded command lines, each run through ddprun and compared with what torchrun 2.15 did.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/integration/torchrun_lines/line.h"
#include "tests/integration/torchrun_lines/stage.h"

namespace ddprun::test {
namespace {

namespace json = boost::json;
using testing::HasSubstr;

const std::string kStub = DDPRUN_NVML_STUB;

bool count_is_a_word(const Line& line) {
  const std::string count = line.option("nproc_per_node");
  return count == "gpu" || count == "auto" || count == "cpu";
}

// Where these differ, they are meant to.
bool may_differ(const Line& line, const std::string& name) {
  static const std::set<std::string> names{"MASTER_ADDR", "MASTER_PORT", "TORCHELASTIC_RUN_ID",
                                           "TORCHELASTIC_ERROR_FILE", "OMP_NUM_THREADS"};
  // How many GPUs and CPUs there are is a matter of the machine.
  static const std::set<std::string> counts{"WORLD_SIZE", "LOCAL_WORLD_SIZE", "ROLE_WORLD_SIZE"};
  return names.contains(name) || (count_is_a_word(line) && counts.contains(name));
}

void prepare(Stage& stage, const Line& line) {
  const std::string script = line.option("training_script");
  if (script.ends_with(".py")) stage.add_script(script);
  for (const char* program : {"tool_train", "python", "sb"})
    if (script == program) stage.add_program(script);
  if (script == "bash") stage.add_program("./bind.sh");
  if (line.option("run_path") == "true") stage.add_script(script);
}

Finished run_line(Stage& stage, const Line& line) {
  std::vector<std::string> environment = line.environment;
  if (line.option("nproc_per_node") == "gpu")
    environment.insert(environment.begin(), {"DDPRUN_NVML=" + kStub, "NVML_STUB_GPUS=8"});
  return stage.run(line.words, environment);
}

void compare_environment(const Line& line, const json::object& expected, const Record& record,
                         const Stage& stage) {
  for (const auto& [name, value] : expected) {
    const std::string actual = record.get(name);
    EXPECT_TRUE(actual != "(none)" || name == "OMP_NUM_THREADS") << std::string(name);
    EXPECT_TRUE(may_differ(line, name) || actual == json::value_to<std::string>(value))
        << std::string(name) << " is " << actual;
  }
  for (const auto& [name, value] : record.environment) {
    const bool of_a_shell = name == "SHLVL" || name == "_" || name == "PWD" || name == "OLDPWD";
    const bool additional = name.starts_with("DDPRUN") || name == "OMP_NUM_THREADS" || of_a_shell;
    EXPECT_TRUE(additional || expected.contains(name) || stage.inherited().contains(name))
        << name << " is none of torchrun's variables";
    EXPECT_FALSE(name.starts_with("PET_")) << name;
  }
  for (const auto& [name, value] : stage.inherited()) {
    if (name.starts_with("PET_") || name.starts_with("DDPRUN") || expected.contains(name)) continue;
    EXPECT_EQ(record.get(name), value) << name;
  }
}

void compare_rank(const Line& line, const json::object& expected, const Stage& stage) {
  const auto record = stage.record(static_cast<int>(expected.at("rank").as_int64()));
  ASSERT_TRUE(record) << "the rank did not run";
  const std::string script = line.option("training_script");
  // What the module of another launcher would have started is not seen here.
  const bool nested = script.starts_with("torch.distributed.");
  EXPECT_EQ(record->arguments(), nested ? line.script_arguments() : texts_of(expected.at("args")));
  const bool python = script.ends_with(".py") || line.option("module") == "true";
  EXPECT_EQ(record->script(), python ? script : "");
  compare_environment(line, expected.at("env").as_object(), *record, stage);
}

class RanLine : public testing::TestWithParam<Line> {};

TEST_P(RanLine, GivesEachRankTheSame) {
  const Line& line = GetParam();
  Stage stage;
  prepare(stage, line);
  const Finished end = run_line(stage, line);
  ASSERT_EQ(end.code, 0) << end.err;
  for (const json::value& rank : line.ranks) compare_rank(line, rank.as_object(), stage);
  const auto first = stage.record(0);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->get("WORLD_SIZE"), std::to_string(stage.number_of_records()));
  EXPECT_TRUE(!line.ranks.empty() || first->arguments() == line.script_arguments());
}

class RefusedLine : public testing::TestWithParam<Line> {};

// The word of each line that is wrong.
std::string wrong_word(const std::string& id) {
  static const std::map<std::string, std::string> words{
      {"c129", "'gpu:4'"},       {"c130", "'0'"},
      {"c132", "'--work-dir'"},  {"c137", "--proc_per_node; did you mean --nproc-per-node?"},
      {"c162", "'$(PET_N"},      {"c205", "'node0.example' has no port"},
      {"c223", "--master-port"}, {"c225", "--rdzc_backend; did you mean --rdzv-backend?"},
      {"c226", "'30000'"},       {"c227", "blank before '--nproc_per_node'"},
      {"c246", "--standalone"},  {"c247", "'1:1:1'"},
      {"c248", "'0'"},           {"c251", "'4'"},
      {"c253", "'789456'"},      {"c254", "no program was given"}};
  const auto found = words.find(id);
  return found == words.end() ? "(nothing is wrong)" : found->second;
}

TEST_P(RefusedLine, IsRefusedByOneLineWithTheWord) {
  Stage stage;
  const Finished end = run_line(stage, GetParam());
  EXPECT_EQ(end.code, 2);
  EXPECT_EQ(lines(end.err).size(), 1u) << end.err;
  EXPECT_THAT(end.err, HasSubstr(wrong_word(GetParam().id)));
  EXPECT_EQ(end.out, "");
  EXPECT_EQ(stage.number_of_records(), 0);
}

class EtcdLine : public testing::TestWithParam<Line> {};

TEST_P(EtcdLine, IsRefusedByName) {
  Stage stage;
  const Finished end = run_line(stage, GetParam());
  EXPECT_EQ(end.code, 2);
  EXPECT_EQ(lines(end.err).size(), 1u) << end.err;
  EXPECT_THAT(end.err, HasSubstr("start rdzvd --state etcd://HOST:PORT"));
  EXPECT_EQ(stage.number_of_records(), 0);
}

// Where torchrun would meet with these options.
std::string torchrun_endpoint(const Line& line) {
  const bool c10d = line.option("rdzv_backend") == "c10d";
  std::string endpoint = line.option("rdzv_endpoint");
  if (endpoint.empty() && c10d) return "127.0.0.1:29400";
  if (endpoint.empty()) {
    const std::string port = line.option("master_port");
    return line.option("master_addr") + ":" + (port.empty() ? "29500" : port);
  }
  const bool has_port =
      endpoint.rfind(':') > endpoint.rfind(']') ||
      (endpoint.find(']') == std::string::npos && endpoint.find(':') != std::string::npos);
  return has_port ? endpoint : endpoint + ":29400";
}

class UnderstoodLine : public testing::TestWithParam<Line> {};

TEST_P(UnderstoodLine, MeansTheNodesThatTorchrunMeans) {
  const Line& line = GetParam();
  Stage stage;
  prepare(stage, line);
  Line dry = line;
  dry.words.insert(dry.words.begin(), {"--dry-run", "--report", "-"});
  const Finished end = run_line(stage, dry);
  EXPECT_EQ(end.code, 0) << end.err;
  const json::value plan = json::parse(end.out);
  const json::object& rendezvous = plan.at("rendezvous").as_object();
  const bool c10d = line.option("rdzv_backend") == "c10d";
  EXPECT_EQ(rendezvous.at("kind"), c10d ? "c10d" : "static");
  const auto nodes = std::to_string(rendezvous.at("min_nodes").as_int64());
  const auto most = std::to_string(rendezvous.at("max_nodes").as_int64());
  EXPECT_EQ(nodes == most ? nodes : nodes + ":" + most, line.option("nnodes"));
  const std::string id = line.option("rdzv_id");
  EXPECT_EQ(json::value_to<std::string>(rendezvous.at("run_id")), id.empty() ? "none" : id);
  const std::string rank = line.option("node_rank");
  if (!c10d || !rank.empty()) {
    EXPECT_EQ(rendezvous.at("node_rank"), rank.empty() ? 0 : std::stoi(rank));
  }
  // Torchrun does not look at MASTER_ADDR, and meets on the wrong host (c209).
  const bool from_environment = line.id == "c209";
  EXPECT_EQ(json::value_to<std::string>(rendezvous.at("endpoint")),
            from_environment ? "node0.example:29500" : torchrun_endpoint(line));
}

// Torchrun takes an option of the script for an abbreviation of its own where it is one. Here the
// program's words are the program's.
class ProgramsOwnOption : public testing::TestWithParam<Line> {};

TEST_P(ProgramsOwnOption, ReachesTheProgram) {
  const Line& line = GetParam();
  Stage stage;
  auto script = line.words.begin();
  while (!script->ends_with(".py") && *script != "extract_noun_phrases") ++script;
  stage.add_script(*script);
  EXPECT_EQ(stage.run(line.words, line.environment).code, 0);
  std::vector<std::string> arguments = stage.record(0).value().arguments();
  if (line.words[0] == "--pass-local-rank") arguments.erase(arguments.begin());
  EXPECT_EQ(arguments, std::vector<std::string>(script + 1, line.words.end()));
}

std::vector<Line> chosen(bool (*wanted)(const Line&)) {
  std::vector<Line> some;
  for (const Line& line : read_lines())
    if (wanted(line)) some.push_back(line);
  return some;
}

bool is_help(const Line& line) {
  return line.words == std::vector<std::string>{"--help"};
}
bool is_programs_own(const Line& line) {
  return line.kind == "error" && wrong_word(line.id) == "(nothing is wrong)";
}

const auto kName = [](const auto& chosen) { return chosen.param.id; };

INSTANTIATE_TEST_SUITE_P(Lines, RanLine, testing::ValuesIn(chosen([](const Line& line) {
                           return line.kind != "error" && !line.several_nodes() && !is_help(line) &&
                                  line.option("rdzv_backend") != "etcd";
                         })),
                         kName);
INSTANTIATE_TEST_SUITE_P(Lines, RefusedLine, testing::ValuesIn(chosen([](const Line& line) {
                           return line.kind == "error" && !is_programs_own(line);
                         })),
                         kName);
INSTANTIATE_TEST_SUITE_P(Lines, EtcdLine, testing::ValuesIn(chosen([](const Line& line) {
                           return line.kind == "parsed" && line.option("rdzv_backend") == "etcd";
                         })),
                         kName);
INSTANTIATE_TEST_SUITE_P(Lines, UnderstoodLine, testing::ValuesIn(chosen([](const Line& line) {
                           return line.kind != "error" && line.several_nodes() &&
                                  line.option("rdzv_backend") != "etcd";
                         })),
                         kName);
INSTANTIATE_TEST_SUITE_P(Lines, ProgramsOwnOption, testing::ValuesIn(chosen(is_programs_own)),
                         kName);

TEST(TorchrunLines, AreAllRun) {
  EXPECT_EQ(read_lines().size(), 130u);
  EXPECT_EQ(chosen(is_programs_own).size(), 5u);
}

}  // namespace
}  // namespace ddprun::test
