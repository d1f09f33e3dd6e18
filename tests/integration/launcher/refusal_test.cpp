// What is wrong before the start: one clear text, exit code 2, nothing started.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "tests/integration/support/run.h"

namespace ddprun::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const std::string kStub = DDPRUN_NVML_STUB;

struct Refused {
  friend void PrintTo(const Refused& refused, std::ostream* out) { *out << refused.name; }

  const char* name;
  std::vector<std::string> words;
  std::vector<std::string> environment;
  std::vector<std::string> says;
};

class RefusalTest : public testing::TestWithParam<Refused> {};

TEST_P(RefusalTest, SaysWhyAndStartsNothing) {
  const TemporaryFolder folder;
  RunOptions options{.environment = GetParam().environment};
  options.environment.push_back("DDPRUN_NVML=" + kStub);
  options.environment.push_back("NVML_STUB_GPUS=8");
  auto words = GetParam().words;
  words.insert(words.end(), {"touch", folder / "started"});
  const Finished end = ddprun(words, options);
  EXPECT_EQ(end.code, 2) << end.err;
  for (const std::string& text : GetParam().says) EXPECT_THAT(end.err, HasSubstr(text));
  EXPECT_NE(run({"/bin/ls", folder / "started"}).code, 0) << "a worker was started";
}

INSTANTIATE_TEST_SUITE_P(
    Each, RefusalTest,
    testing::Values(
        Refused{"five_workers_on_four",
                {"-n", "5"},
                {"CUDA_VISIBLE_DEVICES=1,2,3,4"},
                {"5", "4", "CUDA_VISIBLE_DEVICES", "--oversubscribe"}},
        Refused{"list_is_cut", {"-n", "2"}, {"CUDA_VISIBLE_DEVICES=1,,2"}, {"1,,2"}},
        Refused{"list_of_minus_one",
                {"-n", "1", "--device", "cuda"},
                {"CUDA_VISIBLE_DEVICES=-1"},
                {"-1"}},
        Refused{"device_twice", {"-n", "1"}, {"CUDA_VISIBLE_DEVICES=0,0"}, {"0,0"}},
        Refused{"no_number", {"-n", "1"}, {"CUDA_VISIBLE_DEVICES=abc"}, {"abc"}},
        Refused{"no_such_device", {"-n", "1"}, {"CUDA_VISIBLE_DEVICES=99"}, {"99"}},
        Refused{"zero_workers", {"--nproc-per-node", "0"}, {}, {"--nproc-per-node", "0"}},
        Refused{"minus_three_workers", {"--nproc-per-node", "-3"}, {}, {"--nproc-per-node", "-3"}},
        Refused{"x_workers", {"--nproc_per_node=x"}, {}, {"x"}},
        Refused{
            "workers_by_environment", {}, {"PET_NPROC_PER_NODE=x"}, {"PET_NPROC_PER_NODE", "x"}},
        Refused{"unknown_option",
                {"--nproc-per-nodes", "2"},
                {},
                {"--nproc-per-nodes", "mean --nproc-per-node?"}},
        Refused{"no_list_of_hosts", {"--hosts", "a:x"}, {}, {"--hosts", "'x'"}},
        Refused{"port_too_large", {"--master-port", "66660"}, {}, {"66660"}}),
    [](const auto& chosen) { return std::string(chosen.param.name); });

TEST(RefusalTest, NoProgram) {
  const Finished end = ddprun({"-n", "2"});
  EXPECT_EQ(end.code, 2);
  EXPECT_THAT(end.err, HasSubstr("--help"));
}

TEST(RefusalTest, ABusyPortNamesItsHolder) {
  const UniqueFd taken(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ASSERT_EQ(::bind(taken.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(::listen(taken.get(), 1), 0);
  ::getsockname(taken.get(), reinterpret_cast<sockaddr*>(&address), &size);
  const std::string port = std::to_string(ntohs(address.sin_port));
  const Finished end = ddprun({"-n", "2", "--master-port", port, "/bin/true"});
  EXPECT_EQ(end.code, 2);
  EXPECT_THAT(end.err, AllOf(HasSubstr(port), HasSubstr(std::to_string(::getpid())),
                             HasSubstr("--master-port")));
}

TEST(DevicesTest, TheFourScenarios) {
  const auto ids = [](const std::vector<std::string>& words,
                      const std::vector<std::string>& environment) {
    auto all = words;
    all.insert(all.begin(), {"--simulate-gpus", "8"});
    all.insert(all.end(), {"sh", "-c", "echo $DDPRUN_DEVICE"});
    return ddprun(all, {.environment = environment});
  };
  const std::string list = "CUDA_VISIBLE_DEVICES=1,2,3,4";
  EXPECT_THAT(ids({"-n", "2"}, {list}).err, AllOf(HasSubstr("GPU 1"), HasSubstr("GPU 2")));
  EXPECT_THAT(lines(ids({"-n", "2"}, {list}).out),
              testing::UnorderedElementsAre("cuda:0", "cuda:1"));
  EXPECT_THAT(ids({"-n", "4"}, {list}).err, HasSubstr("GPU 4"));
  EXPECT_THAT(ids({"-n", "4"}, {}).err, AllOf(HasSubstr("GPU 0"), HasSubstr("GPU 3")));
  EXPECT_EQ(ids({"-n", "5"}, {list}).code, 2);
}

TEST(DevicesTest, ADryRunStartsNothingAndShowsThePlan) {
  const TemporaryFolder folder;
  const Finished end =
      ddprun({"--dry-run", "--simulate-gpus", "8", "-n", "2", "touch", folder / "started"});
  EXPECT_EQ(end.code, 0) << end.err;
  EXPECT_THAT(end.out, AllOf(HasSubstr("cuda:0"), HasSubstr("touch")));
  EXPECT_NE(run({"/bin/ls", folder / "started"}).code, 0);
  EXPECT_EQ(ddprun({"--dry-run", "--simulate-gpus", "1", "-n", "2", "/bin/true"}).code, 2);
  EXPECT_EQ(ddprun({"--dry-run", "./no-such-program"}).code, 2);
}

}  // namespace
}  // namespace ddprun::test
