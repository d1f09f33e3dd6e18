// What init_method and backend may say, and how it combines with the environment.
#include "worker_sdk/src/init_method.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ddp/error.h"
#include "tests/unit/worker_sdk/environment_of.h"
#include "worker_sdk/src/backend_names.h"
#include "worker_sdk/src/worker_environment.h"

namespace ddp::detail {
namespace {

using testing::HasSubstr;
using Kind = InitMethod::Kind;

TEST(InitMethod, ReadsTheThreeForms) {
  EXPECT_EQ(parse_init_method("env://", 0).kind, Kind::kEnv);
  const InitMethod tcp = parse_init_method("tcp://node0:29501", 0);
  EXPECT_EQ(tcp.kind, Kind::kTcp);
  EXPECT_EQ(tcp.host, "node0");
  EXPECT_EQ(tcp.port, 29501);
  EXPECT_EQ(tcp.rank, -1);
  EXPECT_EQ(parse_init_method("tcp://[::1]:29501/", 0).host, "::1");
  const InitMethod file = parse_init_method("file:///shared/job?rank=2&world_size=4", 0);
  EXPECT_EQ(file.kind, Kind::kFile);
  EXPECT_EQ(file.path, "/shared/job");
  EXPECT_EQ(file.rank, 2);
  EXPECT_EQ(file.world_size, 4);
}

TEST(InitMethod, RefusesOthersWithTheFormThatIsMeant) {
  for (const char* text : {"tcp://node0", "tcp://:29500", "tcp://node0:0", "tcp://node0:65536"}) {
    EXPECT_EQ(error_of([&] { parse_init_method(text, 1); }),
              "[rank 1] init_process_group: init_method " + std::string(text) +
                  " is not of the form tcp://HOST:PORT (port 1 to 65535)");
  }
  for (const char* text : {"file://", "file://relative/path", "file:///directory/"}) {
    EXPECT_THAT(error_of([&] { parse_init_method(text, 1); }),
                HasSubstr("is not of the form file:///PATH"));
  }
  for (const char* query : {"rank=-1", "rank", "size=2", "world_size=two"}) {
    EXPECT_THAT(error_of([&] { parse_init_method("tcp://a:1?" + std::string(query), 1); }),
                HasSubstr(std::string(query) + " is neither rank=R nor world_size=W"));
  }
  EXPECT_THAT(error_of([] { parse_init_method("", 1); }), HasSubstr("unknown init_method"));
}

TEST(InitMethod, AUrlNeedsNoAddressInTheEnvironment) {
  const auto tcp = read_worker_environment(environment_of({{"RANK", "1"}, {"WORLD_SIZE", "2"}}), -1,
                                           -1, parse_init_method("tcp://node0:29501", 1));
  EXPECT_EQ(tcp.rank, 1);
  EXPECT_EQ(tcp.world_size, 2);
  EXPECT_EQ(tcp.master_addr, "node0");
  EXPECT_EQ(tcp.master_port, 29501);
  EXPECT_FALSE(tcp.agent_store);
  const auto file =
      read_worker_environment(environment_of({{"TORCHELASTIC_USE_AGENT_STORE", "True"}}), -1, -1,
                              parse_init_method("file:///job?rank=0&world_size=1", -1));
  EXPECT_EQ(file.store_file, "/job");
  EXPECT_FALSE(file.agent_store);
}

TEST(InitMethod, TheLaunchersStoreIsUsedAtItsOwnAddressOnly) {
  const auto launched = environment_of({{"RANK", "0"},
                                        {"WORLD_SIZE", "1"},
                                        {"MASTER_ADDR", "node0"},
                                        {"MASTER_PORT", "29500"},
                                        {"TORCHELASTIC_USE_AGENT_STORE", "True"}});
  const auto agent_store = [&](const char* method) {
    return read_worker_environment(launched, -1, -1, parse_init_method(method, 0)).agent_store;
  };
  EXPECT_TRUE(agent_store("env://"));
  EXPECT_TRUE(agent_store("tcp://node0:29500"));
  EXPECT_FALSE(agent_store("tcp://node0:29501"));
  EXPECT_FALSE(agent_store("tcp://node1:29500"));
}

TEST(InitMethod, TwoDifferentRanksAreAContradiction) {
  EXPECT_THAT(error_of([] {
                read_worker_environment(environment_of({}), 1, 2,
                                        parse_init_method("tcp://a:1?rank=0&world_size=2", 1));
              }),
              HasSubstr("rank is 1 in the options but 0 in init_method"));
}

TEST(BackendNames, AreSingleOrOneForEachKindOfDevice) {
  const auto names = [](const char* text) {
    const BackendNames parsed = parse_backend(text, 0);
    return std::pair(parsed.gloo, parsed.nccl);
  };
  EXPECT_EQ(names("gloo"), std::pair(true, false));
  EXPECT_EQ(names("nccl"), std::pair(false, true));
  EXPECT_EQ(names("cpu:gloo,cuda:nccl"), std::pair(true, true));
  EXPECT_EQ(names("cuda:nccl,cpu:gloo"), std::pair(true, true));
  EXPECT_EQ(names("cpu:gloo"), std::pair(true, false));
  for (const char* text : {"mpi", "cpu:nccl", "cuda:gloo", "gloo,nccl", "cpu:gloo,cpu:gloo"}) {
    EXPECT_THAT(error_of([&] { parse_backend(text, 2); }),
                HasSubstr("[rank 2] init_process_group: unknown backend " + std::string(text)));
  }
}

}  // namespace
}  // namespace ddp::detail
