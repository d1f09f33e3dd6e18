// The shims for other versions of LibTorch, tried on stand-ins with the constructors of those
// versions.
#include "worker_sdk/src/compat.h"

#include <gtest/gtest.h>

namespace ddp::compat {
namespace {

using Parameters = std::vector<at::Tensor>;
using Buckets = std::vector<std::vector<std::size_t>>;
using Group = c10::intrusive_ptr<c10d::ProcessGroup>;
using Sparse = std::vector<bool>;
using Names = std::unordered_map<std::size_t, std::string>;
using Caps = std::vector<std::int64_t>;

struct Common {
  std::int64_t cap = 0, first_cap = 0;
  bool find_unused = false, view = false;
};

struct ReducerOf27 : Common {
  ReducerOf27(Parameters, Buckets, Group, Sparse, std::int64_t bytes_cap, bool unused, bool as_view,
              Names, std::int64_t first)
      : Common{bytes_cap, first, unused, as_view} {}
};

struct ReducerFrom28 : Common {
  ReducerFrom28(Parameters, Buckets, Group, Sparse, std::int64_t bytes_cap, bool unused,
                bool as_view, Names, std::int64_t first, bool skip, bool python)
      : Common{bytes_cap, first, unused, as_view} {
    EXPECT_FALSE(skip || python);
  }
};

struct ReducerFrom212 : Common {
  ReducerFrom212(Parameters, Buckets, Group, Sparse, std::int64_t bytes_cap, bool unused,
                 bool as_view, Names, std::int64_t first, bool skip, bool python, Caps caps,
                 bool batched_copy = false)
      : Common{bytes_cap, first, unused, as_view} {
    EXPECT_FALSE(skip || python || batched_copy);
    EXPECT_TRUE(caps.empty());
  }
};

template <class Reducer>
class EachReducer : public testing::Test {};
using Reducers = testing::Types<ReducerOf27, ReducerFrom28, ReducerFrom212>;
TYPED_TEST_SUITE(EachReducer, Reducers);

TYPED_TEST(EachReducer, GetsItsArgumentsInTheirPlaces) {
  ReducerArguments arguments;
  arguments.bucket_bytes_cap = 25;
  arguments.first_bucket_bytes_cap = 1;
  arguments.gradient_as_bucket_view = true;
  const auto reducer = make_reducer<TypeParam>(std::move(arguments));
  EXPECT_EQ(reducer->cap, 25);
  EXPECT_EQ(reducer->first_cap, 1);
  EXPECT_TRUE(reducer->view);
  EXPECT_FALSE(reducer->find_unused);
}

TEST(MissingOption, IsTheFirstThatIsSetAndThatTheReducerDoesNotHave) {
  ReducerArguments arguments;
  EXPECT_EQ(missing_option<ReducerOf27>(arguments), nullptr);
  arguments.batched_grad_copy = true;
  EXPECT_STREQ(missing_option<ReducerFrom28>(arguments), "batched_grad_copy");
  EXPECT_EQ(missing_option<ReducerFrom212>(arguments), nullptr);
  arguments.bucket_bytes_cap_list = {1};
  EXPECT_STREQ(missing_option<ReducerFrom28>(arguments), "bucket_cap_mb_list");
  arguments.skip_all_reduce_unused_params = true;
  EXPECT_STREQ(missing_option<ReducerOf27>(arguments), "skip_all_reduce_unused_params");
  arguments = {.lazy_bucket_allocation = true};
  EXPECT_STREQ(missing_option<ReducerFrom212>(arguments), "lazy_bucket_allocation");
}

struct OldGloo {
  struct Options {
    std::vector<std::string> devices;
    int threads = 0;
    static std::shared_ptr<Options> create(std::chrono::milliseconds) {
      return std::make_shared<Options>();
    }
  };
  static std::string createDeviceForInterface(const std::string& name) { return name; }
  static std::string createDefaultDevice() { return "default"; }
};

struct NewGloo {
  struct Options {
    static std::string create_default(std::chrono::milliseconds) { return "its own choice"; }
  };
};

TEST(GlooOptions, AreMadeByHandWhereLibTorchDoesNot) {
  const auto some = gloo_options<OldGloo>(std::chrono::seconds(1), {"eth0", "eth1"});
  EXPECT_EQ(some->devices, (std::vector<std::string>{"eth0", "eth1"}));
  EXPECT_EQ(some->threads, 4);
  EXPECT_EQ(gloo_options<OldGloo>(std::chrono::seconds(1), {})->devices,
            std::vector<std::string>{"default"});
  EXPECT_EQ(gloo_options<NewGloo>(std::chrono::seconds(1), {"eth0"}), "its own choice");
}

TEST(UseLibuv, IsSetOnlyWhereItExists) {
  struct {
    bool useLibUV = true;
  } with;
  struct {
  } without;
  set_use_libuv(with, false);
  set_use_libuv(without, false);
  EXPECT_FALSE(with.useLibUV);
}

}  // namespace
}  // namespace ddp::compat
