#include "launcher/hosts/failed_shell.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ddprun::hosts {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using Lines = std::vector<std::string>;
using Kind = process::WaitStatus::Kind;

const RemoteShell kSsh;
const Host kHost{.name = "gpu01", .user = "joe", .port = {}};

std::string why_of(int code, const Lines& said) {
  return why({.shell = kSsh, .host = kHost, .status = {Kind::exited, code}, .said = said});
}

TEST(FailedShell, SaysWhatSshSaidAndWhatToTry) {
  EXPECT_EQ(why_of(255, {"joe@gpu01: Permission denied (publickey)."}),
            "joe@gpu01: Permission denied (publickey); no key of yours opens it without a "
            "password; put one there with ssh-copy-id, or load it with ssh-add; try by hand: ssh "
            "joe@gpu01 true");
  EXPECT_THAT(why_of(255, {"No ED25519 host key is known for gpu01 and you have requested strict "
                           "checking.",
                           "Host key verification failed."}),
              HasSubstr("Host key verification failed; its key is not known yet; connect once"));
  EXPECT_THAT(why_of(255, {"ssh: Could not resolve hostname gpu01: Name or service not known"}),
              HasSubstr("check the name"));
  EXPECT_THAT(why_of(255, {"ssh: connect to host gpu01 port 22: Connection refused\r"}),
              HasSubstr("Connection refused; no sshd listens there"));
  EXPECT_THAT(why_of(255, {"Connection timed out during banner exchange"}),
              HasSubstr("a firewall is between"));
}

// The last line is not always the one that matters.
TEST(FailedShell, FindsTheLineThatMatters) {
  EXPECT_THAT(why_of(255, {"@@@@", "@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @\r",
                           "Offending key in", "Host key verification failed."}),
              AllOf(testing::StartsWith("WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!; if"),
                    HasSubstr("ssh-keygen -R")));
  EXPECT_THAT(why_of(255, {"kex_exchange_identification: banner line contains junk", ""}),
              HasSubstr("banner line contains junk; try by hand"));
}

TEST(FailedShell, SaysWhereDdprunIsMissing) {
  EXPECT_EQ(why_of(127, {"/bin/sh: 1: exec: ddprun: not found"}),
            "there is no ddprun (/bin/sh: 1: exec: ddprun: not found); install it there, or say "
            "with --remote-ddprun where it is");
  const RemoteShell named{.remote_ddprun = "/opt/ddprun"};
  EXPECT_THAT(why({.shell = named, .host = kHost, .status = {Kind::exited, 126}}),
              HasSubstr("'/opt/ddprun' cannot be started there; check --remote-ddprun"));
  EXPECT_EQ(why({.shell = named,
                 .host = kHost,
                 .status = {Kind::exited, 126},
                 .said = {"sh: 1: exec: /opt/ddprun: Permission denied"}}),
            "'/opt/ddprun' cannot be started there (sh: 1: exec: /opt/ddprun: Permission denied); "
            "check --remote-ddprun");
  EXPECT_THAT(why_of(128, {"fatal: unrecognized command 'exec ddprun --started-by-hosts'"}),
              AllOf(HasSubstr("unrecognized command"), Not(HasSubstr("too old"))));
  EXPECT_THAT(why_of(2, {"ddprun: unknown option --started-by-hosts; options of"}),
              HasSubstr("the ddprun there is too old"));
}

TEST(FailedShell, ShowsHowItEndedWhereNothingWasSaid) {
  EXPECT_THAT(why_of(3, {}), HasSubstr("ssh ended with 3; try by hand"));
  EXPECT_THAT(why({.shell = kSsh, .host = kHost, .status = {Kind::signaled, 9}}),
              HasSubstr("ssh was ended by signal 9"));
  EXPECT_THAT(why({.shell = kSsh, .host = kHost, .status = {Kind::signaled, 9}, .silent_for = 60}),
              HasSubstr("no answer within 60 s"));
}

TEST(FailedShell, CallsALostConnectionByItsName) {
  EXPECT_EQ(why({.shell = kSsh,
                 .host = kHost,
                 .status = {Kind::exited, 255},
                 .said = {"Timeout, server gpu01 not responding."},
                 .before_hello = false}),
            "the connection was lost (Timeout, server gpu01 not responding); its workers are "
            "stopped there");
}

// As behind `ssh -n`, or where the job's folder is on a disk that hangs.
TEST(FailedShell, KnowsWhenDdprunWasStartedButDidNotAnswer) {
  FailedShell failed{.shell = kSsh, .host = kHost, .status = {Kind::exited, 0}, .greeted = true};
  EXPECT_THAT(why(failed), AllOf(HasSubstr("ended before it answered (ssh ended with 0)"),
                                 HasSubstr("`ssh -n` does not"), Not(HasSubstr("workers"))));
  failed.silent_for = 60;
  EXPECT_THAT(why(failed), HasSubstr("no answer within 60 s of the ddprun that runs there"));
}

TEST(FailedShell, LetsDdprunSpeakForItself) {
  EXPECT_EQ(why({.shell = kSsh,
                 .host = kHost,
                 .status = {Kind::exited, 125},
                 .said = {"ddprun: its ddprun is version 2, the one here 1; install the same"},
                 .greeted = true}),
            "its ddprun is version 2, the one here 1; install the same");
}

TEST(FailedShell, ShowsNothingThatATerminalWouldObey) {
  EXPECT_THAT(why_of(255, {"\x1b[31mred\r\n"}), Not(HasSubstr("\x1b")));
}

}  // namespace
}  // namespace ddprun::hosts
