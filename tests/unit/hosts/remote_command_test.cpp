#include "launcher/hosts/remote_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ddprun::hosts {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsSupersetOf;

TEST(RemoteCommand, NeverLetsSshAskAnybody) {
  const auto words = remote_command({.own_path = "/usr/bin/ddprun"},
                                    {.name = "a", .user = "joe", .port = 2222, .slots = {}});
  EXPECT_EQ(words.front(), "ssh");
  EXPECT_THAT(words, IsSupersetOf({"BatchMode=yes", "ConnectTimeout=10", "-T", "-p", "2222"}));
  EXPECT_EQ(words[words.size() - 2], "joe@a");
  EXPECT_EQ(words.back(),
            "exec /bin/sh -c 'test -x /usr/bin/ddprun && exec /usr/bin/ddprun --started-by-hosts; "
            "exec ddprun --started-by-hosts'");
}

// Of an option that is there twice ssh takes the first.
TEST(RemoteCommand, LetsTheUsersOwnOptionsCountMore) {
  const auto words =
      remote_command({.words = {"/opt/ssh", "-o", "ConnectTimeout=60"}}, {.name = "a", .port = {}});
  const auto users = std::find(words.begin(), words.end(), "ConnectTimeout=60");
  EXPECT_LT(users, std::find(words.begin(), words.end(), "ConnectTimeout=10"));
}

TEST(RemoteCommand, GivesAnotherShellTheHostAndTheCommandOnly) {
  const RemoteShell shell{
      .words = {"kubectl-rsh"}, .remote_ddprun = "/opt/ddprun", .own_path = "/x"};
  EXPECT_THAT(remote_command(shell, {.name = "a", .port = {}}),
              ElementsAre("kubectl-rsh", "a", "exec /opt/ddprun --started-by-hosts"));
  EXPECT_THAT(remote_command(shell, {.name = "a", .user = "joe", .port = 22}),
              ElementsAre("kubectl-rsh", "-l", "joe", "-p", "22", "a",
                          "exec /opt/ddprun --started-by-hosts"));
}

TEST(RemoteCommand, QuotesNothingThatAShellWouldReadAnew) {
  EXPECT_EQ(remote_command({.own_path = "/home/o'brien/ddprun"}, {.name = "a", .port = {}}).back(),
            "exec ddprun --started-by-hosts");
  EXPECT_THAT(remote_command({.remote_ddprun = "/a b/ddprun"}, {.name = "a", .port = {}}).back(),
              HasSubstr("'/a b/ddprun'"));
}

TEST(RemoteCommand, IsShownAsAUserWouldTypeIt) {
  EXPECT_EQ(shown({"a", "b c", "it's", ""}), "a 'b c' 'it'\\''s' ''");
  EXPECT_EQ(by_hand({.words = {"ssh", "-F", "cfg"}}, {.name = "a", .user = "joe", .port = 23}),
            "ssh -F cfg -p 23 joe@a true");
}

}  // namespace
}  // namespace ddprun::hosts
