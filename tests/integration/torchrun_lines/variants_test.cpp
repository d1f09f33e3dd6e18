// More ways to write a command line than the recorded ones: abbreviations, spellings, glued values,
// variables, repeated options, `--`. What is expected was seen with torchrun 2.11.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/integration/torchrun_lines/stage.h"

namespace ddprun::test {
namespace {

using testing::HasSubstr;
using Texts = std::vector<std::string>;

struct Variant {
  std::string name;
  Texts words;  // NAME=value in front of the options is a variable, as in a shell
  Texts arguments = {};
  int workers = 1;
  std::string script = "train.py";
  std::map<std::string, std::string> environment = {};  // of rank 0

  friend void PrintTo(const Variant& variant, std::ostream* out) { *out << variant.name; }
};

// Takes the variables off the front of `words`.
Texts take_variables(Texts& words) {
  Texts variables;
  while (words[0].find('=') != std::string::npos && words[0][0] != '-') {
    variables.push_back(words[0]);
    words.erase(words.begin());
  }
  return variables;
}

class TakenVariant : public testing::TestWithParam<Variant> {};

TEST_P(TakenVariant, StartsWhatTorchrunStarts) {
  const Variant& variant = GetParam();
  Stage stage;
  stage.add_script("train.py");
  stage.add_program("tool_train");
  Texts words = variant.words;
  const Texts variables = take_variables(words);
  const Finished end = stage.run(words, variables);
  ASSERT_EQ(end.code, 0) << end.err;
  const auto record = stage.record(0);
  ASSERT_TRUE(record);
  EXPECT_EQ(record->arguments(), variant.arguments);
  EXPECT_EQ(record->script(), variant.script);
  EXPECT_EQ(stage.number_of_records(), variant.workers);
  for (const auto& [name, value] : variant.environment) EXPECT_EQ(record->get(name), value) << name;
}

const auto kName = [](const auto& chosen) { return chosen.param.name; };

INSTANTIATE_TEST_SUITE_P(
    Glued, TakenVariant,
    testing::Values(Variant{"tee", {"-t3", "--nproc_per_node=2", "train.py"}, {}, 2},
                    Variant{"tee_with_equals", {"-t=3", "train.py"}},
                    Variant{"both", {"-r3", "-t1", "--nproc-per-node", "2", "train.py"}, {}, 2},
                    Variant{"redirects_with_equals", {"-r=2", "train.py"}},
                    Variant{"map", {"-t0:3,1:1", "--nproc_per_node=2", "train.py"}, {}, 2}),
    kName);

INSTANTIATE_TEST_SUITE_P(
    Module, TakenVariant,
    testing::Values(
        Variant{"short_form", {"-m", "pkg.mod", "--x", "1"}, {"--x", "1"}, 1, "pkg.mod"},
        Variant{"twice", {"-m", "pkg.mod", "-m", "other"}, {"-m", "other"}, 1, "pkg.mod"},
        Variant{"separator_behind", {"-m", "pkg.mod", "--", "--x"}, {"--x"}, 1, "pkg.mod"},
        Variant{"separator_before", {"-m", "--", "pkg.mod", "--x"}, {"--x"}, 1, "pkg.mod"},
        Variant{"long_form", {"--module", "pkg.mod", "--module"}, {"--module"}, 1, "pkg.mod"},
        Variant{"abbreviated", {"--mod", "pkg.mod"}, {}, 1, "pkg.mod"},
        Variant{"by_variable", {"PET_MODULE=1", "pkg.mod", "a"}, {"a"}, 1, "pkg.mod"}),
    kName);

INSTANTIATE_TEST_SUITE_P(
    Program, TakenVariant,
    testing::Values(Variant{"dash", {"--no-py", "tool_train", "a"}, {"a"}, 1, ""},
                    Variant{"underscore", {"--no_p", "tool_train", "a"}, {"a"}, 1, ""},
                    Variant{"by_variable", {"PET_NO_PYTHON=1", "tool_train", "a"}, {"a"}, 1, ""},
                    Variant{"run_path", {"--run_path", "train.py", "a"}, {"a"}},
                    Variant{"run_path_wins", {"--run-path", "--no-python", "train.py"}}),
    kName);

INSTANTIATE_TEST_SUITE_P(
    Abbreviated, TakenVariant,
    testing::Values(
        Variant{"standalone", {"--stand", "--nnode", "1", "train.py"}},
        Variant{"workers", {"--nproc_per", "3", "train.py"}, {}, 3},
        Variant{"redirects", {"--redir", "1", "train.py"}},
        Variant{"log_folder", {"--log_d", "logs", "train.py"}},
        Variant{"role", {"--rol", "a", "train.py"}, {}, 1, "train.py", {{"ROLE_NAME", "a"}}},
        Variant{"endpoint", {"--rdzv_e=localhost:0", "train.py"}},
        Variant{"address", {"--master_a=localhost", "train.py"}}),
    kName);

INSTANTIATE_TEST_SUITE_P(
    Repeated, TakenVariant,
    testing::Values(
        Variant{"dash_last", {"--nproc_per_node", "3", "--nproc-per-node=2", "train.py"}, {}, 2},
        Variant{"underscore_last", {"--nproc-per-node=2", "--nproc_per_node=3", "train.py"}, {}, 3},
        Variant{"tee", {"--tee=1", "--tee", "2", "train.py"}},
        Variant{"role",
                {"--role", "a", "--role=b", "train.py"},
                {},
                1,
                "train.py",
                {{"ROLE_NAME", "b"}}},
        Variant{
            "a_wrong_one_first", {"--nproc_per_node=x", "--nproc_per_node=2", "train.py"}, {}, 2}),
    kName);

INSTANTIATE_TEST_SUITE_P(
    Value, TakenVariant,
    testing::Values(
        Variant{
            "with_equals", {"--role=a=b", "train.py"}, {}, 1, "train.py", {{"ROLE_NAME", "a=b"}}},
        Variant{
            "with_blank", {"--role", "a b", "train.py"}, {}, 1, "train.py", {{"ROLE_NAME", "a b"}}},
        Variant{"no_files", {"--log_dir", "/dev/null", "-t0", "train.py"}},
        Variant{"half_a_second", {"--start-method", "fork", "--monitor_interval=.5", "train.py"}},
        Variant{"event_handler", {"--event_log_handler", "console", "train.py"}},
        Variant{"conf", {"--rdzv_conf", "timeout=5,join_timeout=7", "train.py"}},
        Variant{"ipv6", {"--rdzv_endpoint=[::1]:0", "--rdzv_backend=c10d", "train.py"}},
        Variant{"only_backend", {"--rdzv_backend=c10d", "train.py"}},
        Variant{"no_binding", {"--numa_binding=node", "train.py"}}),
    kName);

INSTANTIATE_TEST_SUITE_P(
    Separator, TakenVariant,
    testing::Values(
        Variant{"before", {"--", "train.py", "--x"}, {"--x"}},
        Variant{"before_and_behind", {"--", "train.py", "--", "--x"}, {"--", "--x"}},
        Variant{"behind_twice", {"train.py", "--", "--", "x"}, {"--", "x"}},
        Variant{"behind", {"train.py", "--", "--nproc_per_node", "4"}, {"--nproc_per_node", "4"}},
        Variant{"behind_options", {"--nproc_per_node=2", "--", "train.py", "-t3"}, {"-t3"}, 2},
        Variant{"last", {"train.py", "", " ", "-9", "--"}, {"", " ", "-9", "--"}}),
    kName);

INSTANTIATE_TEST_SUITE_P(
    Words, TakenVariant,
    testing::Values(
        Variant{"own_options",
                {"train.py", "--nproc-per-node", "5", "-t", "3", "--help"},
                {"--nproc-per-node", "5", "-t", "3", "--help"}},
        // Torchrun makes one dollar of two.
        Variant{"dollars",
                {"train.py", "a$$b", "x${local_rank}", "${rank}", "$X"},
                {"a$$b", "x0", "${rank}", "$X"}},
        Variant{"option_of_both", {"--standalone", "train.py", "--standalone"}, {"--standalone"}}),
    kName);

INSTANTIATE_TEST_SUITE_P(
    Variable, TakenVariant,
    testing::Values(
        Variant{"workers", {"PET_NPROC_PER_NODE=2", "train.py"}, {}, 2},
        Variant{"beaten", {"PET_NPROC_PER_NODE=2", "--nproc_per_node=3", "train.py"}, {}, 3},
        Variant{"flag_on", {"PET_STANDALONE=1", "train.py"}},
        Variant{"flag_off", {"PET_STANDALONE=0", "PET_VIRTUAL_LOCAL_RANK=0", "train.py"}},
        Variant{"output", {"PET_TEE=3", "PET_REDIRECTS=0:1", "PET_LOG_DIR=logs", "train.py"}},
        Variant{"role", {"PET_ROLE=a", "train.py"}, {}, 1, "train.py", {{"ROLE_NAME", "a"}}},
        Variant{"run_id",
                {"PET_RDZV_ID=abc", "PET_RDZV_BACKEND=c10d", "train.py"},
                {},
                1,
                "train.py",
                {{"TORCHELASTIC_RUN_ID", "abc"}, {"PET_RDZV_ID", "(none)"}}},
        Variant{"filters",
                {"PET_LOCAL_RANKS_FILTER=0,1", "PET_DUPLICATE_STDOUT_FILTERS=a,b", "train.py"}},
        Variant{"restarts",
                {"PET_MAX_RESTARTS=2", "train.py"},
                {},
                1,
                "train.py",
                {{"TORCHELASTIC_MAX_RESTARTS", "2"}}},
        Variant{"signals",
                {"PET_SIGNALS_TO_HANDLE=SIGTERM", "train.py"},
                {},
                1,
                "train.py",
                {{"TORCHELASTIC_SIGNALS_TO_HANDLE", "SIGTERM"}}}),
    kName);

struct Refusal {
  std::string name;
  Texts words;
  std::string says;

  friend void PrintTo(const Refusal& refusal, std::ostream* out) { *out << refusal.name; }
};

class RefusedVariant : public testing::TestWithParam<Refusal> {};

TEST_P(RefusedVariant, IsRefusedByOneLine) {
  Stage stage;
  stage.add_script("train.py");
  Texts words = GetParam().words;
  const Texts variables = take_variables(words);
  const Finished end = stage.run(words, variables);
  EXPECT_EQ(end.code, 2);
  EXPECT_EQ(lines(end.err).size(), 1u) << end.err;
  EXPECT_THAT(end.err, HasSubstr(GetParam().says));
  EXPECT_EQ(stage.number_of_records(), 0);
}

INSTANTIATE_TEST_SUITE_P(
    Too, RefusedVariant,
    testing::Values(
        Refusal{"module_glued", {"-mpkg.mod"}, "-mpkg.mod"},
        Refusal{"abbreviation_of_two", {"--max", "2", "train.py"}, "--max is an abbreviation"},
        Refusal{"empty_filter_entry", {"--local_ranks_filter=0,,1", "train.py"}, "'0,,1'"},
        Refusal{"method", {"--start_method", "thread", "train.py"}, "'thread'"},
        Refusal{"conf_without_value", {"--rdzv-conf=x", "train.py"}, "no value for 'x'"},
        Refusal{"negative_restarts", {"--max-restarts=-1", "train.py"}, "'-1'"},
        Refusal{"no_count", {"--nproc_per_node=", "train.py"}, "the value is empty"},
        Refusal{"count_with_fraction", {"--nproc_per_node", "2.0", "train.py"}, "'2.0'"},
        Refusal{"port", {"--master_port=abc", "train.py"}, "'abc'"},
        Refusal{"unknown", {"--no-such=1", "train.py"}, "--no-such"},
        Refusal{"tee_takes_the_script", {"--tee", "train.py"}, "'train.py'"},
        Refusal{"nothing_behind", {"--nproc-per-node"}, "its value is missing"},
        Refusal{"backend", {"--rdzv_backend=xyz", "train.py"}, "'xyz'"},
        Refusal{"boolean", {"PET_STANDALONE=yes", "train.py"}, "PET_STANDALONE: 'yes'"},
        Refusal{"module_and_program", {"-m", "--no-python", "train.py"}, "exclude each other"}),
    kName);

}  // namespace
}  // namespace ddprun::test
