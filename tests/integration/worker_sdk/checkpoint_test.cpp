// Checkpoints and failures of whole groups.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "tests/integration/worker_sdk/job.h"
#include "tests/support/temporary_folder.h"

namespace ddp::test {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::MatchesRegex;

constexpr int kDdpError = 3;

class GroupCheckpoint : public testing::Test {
 protected:
  std::vector<Ended> run(int ranks, const std::string& scenario, Environment more = {}) const {
    more.emplace("DDP_TEST_FILE", path);
    return run_ranks(ranks, scenario, more);
  }
  // What the ranks print, which must all end well.
  std::string train(int ranks, const std::string& scenario, const char* first,
                    const char* last) const {
    const auto ended = run(ranks, scenario, {{"DDP_TEST_FIRST", first}, {"DDP_TEST_LAST", last}});
    std::string text;
    for (const Ended& rank : ended) {
      EXPECT_EQ(rank.exit_code, 0) << describe(ended);
      text += rank.out;
    }
    return text;
  }
  static std::string content(const std::string& name) {
    std::ifstream file(name);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  const ddprun::test::TemporaryFolder temporary;
  const std::string folder = temporary.path(), path = folder + "/model.pt";
};

TEST_F(GroupCheckpoint, Rank0SavesAndAllLoad) {
  const auto ended = run(2, "save_and_load");
  for (const std::size_t rank : {0u, 1u}) {
    EXPECT_EQ(ended[rank].exit_code, 0) << describe(ended);
    EXPECT_THAT(ended[rank].out, HasSubstr("from 0 tensor 0.5"));
  }
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1);
}

TEST_F(GroupCheckpoint, AFailedSaveIsKnownToAllAndLeavesTheOldFile) {
  std::filesystem::create_directory(path);
  const auto ended = run(2, "save_and_load");
  for (const std::size_t rank : {0u, 1u}) {
    EXPECT_EQ(ended[rank].exit_code, kDdpError) << describe(ended);
    EXPECT_THAT(ended[rank].err,
                HasSubstr("[rank " + std::to_string(rank) +
                          "] save_on_rank0 failed on rank 0: save: " + path +
                          " cannot be written: it is no plain file: Is a directory"));
  }
}

TEST_F(GroupCheckpoint, ARankThatDoesNotCallIsMissed) {
  const auto ended = run(2, "save_on_one_only");
  EXPECT_EQ(ended[0].exit_code, kDdpError) << describe(ended);
  EXPECT_THAT(ended[0].err, HasSubstr("[rank 0] save_on_rank0: waiting for the other ranks, all "
                                      "of which must call it: "));
  EXPECT_EQ(ended[1].exit_code, 0) << describe(ended);
}

TEST_F(GroupCheckpoint, ARankThatCannotReadStopsAll) {
  const auto ended = run(2, "load_on_one");
  for (const Ended& rank : ended) {
    EXPECT_EQ(rank.exit_code, kDdpError) << describe(ended);
    EXPECT_THAT(rank.err, HasSubstr("load_on_all failed on rank 1: load: " + path +
                                    ".none cannot be read: No such file or directory"));
  }
}

TEST_F(GroupCheckpoint, TheFirstRankOfAGroupSavesForIt) {
  const auto ended = run(3, "save_in_a_group");
  for (const Ended& rank : ended) EXPECT_THAT(rank.out, HasSubstr("read 2")) << describe(ended);
}

TEST_F(GroupCheckpoint, ParametersComeFromTheRankThatIsNamed) {
  const auto ended = run(2, "send_parameters");
  EXPECT_EQ(ended[0].exit_code, 0) << describe(ended);
  const auto sum = [&](std::size_t rank) { return ended[rank].out.substr(7); };
  EXPECT_EQ(sum(0), sum(1));
  EXPECT_THAT(sum(0), MatchesRegex("sum [4-7]\\.[0-9]+\n"));  // 4 of rank 1's running_mean
}

TEST_F(GroupCheckpoint, ResumedTrainingEqualsAnUninterruptedOne) {
  for (const char* scenario : {"train_sgd", "train_adam", "train_adamw"}) {
    const std::string whole = train(2, scenario, "0", "6");
    const std::string half = train(2, scenario, "0", "3");
    EXPECT_EQ(train(2, scenario, "3", "6"), whole) << scenario;
    EXPECT_NE(half, whole);
    EXPECT_THAT(whole, ContainsRegex("rank 1 2.bias -?0x"));
  }
}

std::string of_rank_0(const std::string& text) {
  return text.substr(0, text.find("rank 1 "));
}

TEST_F(GroupCheckpoint, AnotherWorldSizeContinuesFromTheSameState) {
  for (const char* scenario : {"train_sgd", "train_adamw"}) {
    const std::string saved = of_rank_0(train(2, scenario, "0", "3"));
    for (const int ranks : {1, 3}) {
      EXPECT_EQ(of_rank_0(train(ranks, scenario, "3", "3")), saved) << scenario << ' ' << ranks;
    }
    EXPECT_NE(of_rank_0(train(3, scenario, "3", "4")), saved);
  }
}

TEST_F(GroupCheckpoint, RecordTellsTheLauncherAndEndsTheRank) {
  const std::string error_file = folder + "/error.json";
  const auto ended = run(2, "record_failure", {{"TORCHELASTIC_ERROR_FILE", error_file}});
  EXPECT_EQ(ended[1].exit_code, 1) << describe(ended);
  EXPECT_THAT(ended[1].err, HasSubstr("[rank 1] ddp::test::(anonymous namespace)::OwnError: rank 1 "
                                      "\"fails\"\n"));
  EXPECT_EQ(ended[0].exit_code, 1);
  EXPECT_THAT(ended[0].err, HasSubstr("ddp::Error: [rank 0] barrier failed"));
  // Both wrote to the same file here, one after the other.
  EXPECT_THAT(content(error_file),
              MatchesRegex("\\{\"message\": \\{\"message\": \"ddp::.*\", \"extraInfo\": "
                           "\\{\"py_callstack\": \"ddp::.*\", \"timestamp\": \"[0-9]+\"(, "
                           "\"waited_for\": \\[1\\])?\\}\\}\\}"));
}

TEST_F(GroupCheckpoint, RecordKnowsEveryKindOfEnd) {
  const std::string error_file = folder + "/error.json";
  const Environment more{{"TORCHELASTIC_ERROR_FILE", error_file}};
  EXPECT_EQ(run(1, "record_success", more)[0].exit_code, 17);
  EXPECT_FALSE(std::filesystem::exists(error_file));
  EXPECT_EQ(run(1, "record_anything", more)[0].exit_code, 1);
  EXPECT_THAT(content(error_file), HasSubstr("\"message\": \"an exception of type int\""));
  EXPECT_EQ(run(1, "record_libtorch", more)[0].exit_code, 1);
  // The message in short, the stack in full.
  EXPECT_THAT(content(error_file), ContainsRegex("\"message\": \"c10::Error: [^\"]*\", "
                                                 "\"extraInfo\": \\{\"py_callstack\": "
                                                 "\"[^\"]*frame #0"));
  const auto nowhere = run(1, "record_anything", {{"TORCHELASTIC_ERROR_FILE", "/nonexistent/e"}});
  EXPECT_EQ(nowhere[0].exit_code, 1);
  EXPECT_THAT(nowhere[0].err, HasSubstr("ddp::record: /nonexistent/e"));
}

}  // namespace
}  // namespace ddp::test
