// torchrun in a worker of ddprun, and ddprun in a worker of torchrun.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include "tests/integration/support/run.h"

namespace ddprun::test {
namespace {

using std::chrono::seconds;
using testing::Contains;
using testing::HasSubstr;

const std::string kTorchrun =
    DDPRUN_INTEROP_PYTHON " -m torch.distributed.run --standalone --nproc-per-node 2 --no-python ";

std::string quoted_ddprun() {
  return "'" + ddprun_words({}).front() + "'";
}

TEST(NestedTest, TorchrunInAWorkerHasAJobOfItsOwnAndEndsWithOurs) {
  const std::string mark = "7" + std::to_string(::getpid()) + "." + std::to_string(::rand());
  Program program(
      ddprun_words({"-q", "-n", "3", "sh", "-c",
                    "[ $RANK = 2 ] || exec sleep 1000; exec " + kTorchrun +
                        "sh -c 'echo inner $RANK of $WORLD_SIZE; exec sleep " + mark + "'"}),
      {.limit = seconds(55)});
  ASSERT_TRUE(program.wait_for_output("inner 0 of 2") && program.wait_for_output("inner 1 of 2"));
  ::kill(program.pid(), SIGTERM);
  EXPECT_EQ(program.finish().signal, SIGTERM);
  EXPECT_TRUE(nobody_has(mark, seconds(2)));
}

TEST(NestedTest, DdprunInAWorkerOfTorchrunTellsItWhatItsOwnWorkerSaid) {
  const Finished end = run_shell(
      kTorchrun + "sh -c '[ $RANK = 1 ] || exit 0; exec \"$0\" -q -n 3 sh -c \"$1\"' " +
          quoted_ddprun() +
          R"( '[ $RANK = 2 ] || exec sleep 1000
               echo inner $RANK of $WORLD_SIZE, round $TORCHELASTIC_RESTART_COUNT
               printf "{\"message\":{\"message\":\"inner boom\",\"extraInfo\":)"
          R"({\"py_callstack\":\"none\",\"timestamp\":\"1700000000\"}}}" > $TORCHELASTIC_ERROR_FILE
               exit 3')",
      {.limit = seconds(55)});
  EXPECT_EQ(end.code, 1) << "torchrun ends with 1 whatever its worker ends with";
  EXPECT_THAT(lines(end.out), Contains("inner 2 of 3, round 0")) << end.err;
  EXPECT_THAT(end.err, HasSubstr("exitcode  : 3"));
  EXPECT_THAT(end.err, HasSubstr("inner boom"));
}

}  // namespace
}  // namespace ddprun::test
