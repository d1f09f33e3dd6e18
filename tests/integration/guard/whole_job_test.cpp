// A whole life of a server and a job in one test, for the sanitizers: two nodes meet with a token,
// a rank fails, the round begins anew, pages are read meanwhile, and all of them end.
#include <gmock/gmock.h>

#include "tests/integration/guard/secrets.h"
#include "tests/integration/multi_node/nodes.h"
#include "tests/integration/rdzvd/real_rdzvd.h"

namespace ddprun::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr std::chrono::seconds kLimit{60};  // a sanitizer takes its time
const std::string kSecret = "the-secret-of-this-test-0123456789";

class WholeJob : public testing::Test {
 protected:
  std::unique_ptr<Program> node(const std::string& script) const {
    return start({"--nnodes", "2", "-n", "2", "--rdzv-backend", "c10d", "--rdzv-endpoint",
                  server_.address(), "--rdzv-id", "job", "--max-restarts", "1", "--restart-backoff",
                  "0", "--token-file", token_},
                 shell(script), {.limit = kLimit});
  }
  std::string page(const std::string& target) const {
    server::RawClient browser(server_.port(), false);
    browser.send("GET " + target + " HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + kSecret +
                 "\r\n\r\n");
    return browser.receive_all();
  }
  // Every sanitizer names itself, and a process that leaks ends with a code of its own.
  static void expect_clean(const Finished& end) {
    EXPECT_EQ(end.code, 0) << end.err;
    EXPECT_THAT(end.err, AllOf(Not(HasSubstr("Sanitizer")), Not(HasSubstr("runtime error:"))));
  }

  const Secrets secrets_;
  const std::string token_ = secrets_.file("token", kSecret);
  const std::string go_ = secrets_.folder() / "go";
  RealRdzvd server_{{"--token-file", token_}, {.limit = kLimit}};
};

TEST_F(WholeJob, MeetsFailsIsSeenAndEnds) {
  const std::string work =
      "if [ $TORCHELASTIC_RESTART_COUNT = 1 ]; then exec " DDPRUN_TEST_STORE_MEETING
      " \"$MASTER_ADDR\" \"$MASTER_PORT\" \"$RANK\" 4; fi; echo up; while [ ! -e " +
      go_ + " ]; do sleep 0.02; done; [ $RANK != 1 ] || exit 3; sleep 60";
  const auto a = node(work);
  const auto b = node(work);
  ASSERT_TRUE(a->wait_for_output("up\n", 2) && b->wait_for_output("up\n", 2));
  EXPECT_THAT(page("/"), HasSubstr("job"));
  EXPECT_THAT(page("/metrics"), HasSubstr("rdzv_runs"));
  EXPECT_THAT(page("/api/v1/runs/job"), HasSubstr("\"job\""));
  const Finished known =
      run({DDPRUN_RDZVCTL, "--endpoint", server_.address(), "status", "--token-file", token_},
          {.limit = kLimit});
  expect_clean(known);
  EXPECT_THAT(known.out, HasSubstr("run job"));
  EXPECT_EQ(run_shell("touch " + go_).code, 0);
  for (const auto& each : {a.get(), b.get()}) {
    const Finished end = each->finish();
    expect_clean(end);
    EXPECT_EQ(count_of("met 4", end.out), 2);
  }
  expect_clean(server_.stop());
}

}  // namespace
}  // namespace ddprun::test
