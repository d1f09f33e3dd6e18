#include "launcher/output/channel.h"

#include <sys/ioctl.h>
#include <termios.h>

#include "tests/unit/output/descriptors.h"

namespace ddprun::output {
namespace {

constexpr char kBinary[] = "a\nb\r\n\x03\x04\x1a\x11\x13\xff\0end";
const std::string kBytes(kBinary, sizeof kBinary - 1);

TEST(Channel, AutomaticFollowsOurStream) {
  EXPECT_EQ(automatic_kind(true), ChannelKind::pty);
  EXPECT_EQ(automatic_kind(false), ChannelKind::pipe);
}

class EveryChannel : public ::testing::TestWithParam<ChannelKind> {
 protected:
  Channel channel_ = std::move(make_channel(GetParam(), -1).value());
};

TEST_P(EveryChannel, PassesBytesUnchanged) {
  write_all(channel_.write_end.get(), kBytes);
  EXPECT_EQ(wait_and_read(channel_.read_end.get(), kBytes.size()), kBytes);
}

TEST_P(EveryChannel, OnlyOurEndIsNonBlockingAndBothCloseOnExec) {
  EXPECT_TRUE(is_non_blocking(channel_.read_end.get()));
  EXPECT_FALSE(is_non_blocking(channel_.write_end.get()));
  EXPECT_TRUE(::fcntl(channel_.read_end.get(), F_GETFD) & FD_CLOEXEC);
  EXPECT_TRUE(::fcntl(channel_.write_end.get(), F_GETFD) & FD_CLOEXEC);
}

INSTANTIATE_TEST_SUITE_P(Kinds, EveryChannel,
                         ::testing::Values(ChannelKind::pipe, ChannelKind::pty),
                         [](const auto& kind) {
                           return std::string(kind.param == ChannelKind::pty ? "pty" : "pipe");
                         });

TEST(Channel, ThePseudoTerminalIsATerminalWithOurWindowSize) {
  Channel ours = terminal_to_us();
  const winsize size{33, 123, 0, 0};
  ASSERT_EQ(::ioctl(ours.write_end.get(), TIOCSWINSZ, &size), 0);
  EXPECT_EQ(terminal_width(ours.write_end.get()), 123);
  const Channel channel = std::move(make_channel(ChannelKind::pty, ours.write_end.get()).value());
  EXPECT_TRUE(::isatty(channel.write_end.get()));
  EXPECT_EQ(terminal_width(channel.write_end.get()), 123);
}

TEST(Channel, ThePseudoTerminalNeverEchoes) {
  Channel channel = terminal_to_us();
  termios settings{};
  ASSERT_EQ(::tcgetattr(channel.write_end.get(), &settings), 0);
  EXPECT_EQ(settings.c_lflag & (ECHO | ICANON | ISIG), 0U);
  EXPECT_EQ(settings.c_oflag & OPOST, 0U);
}

TEST(Channel, AWidthOfSomethingElseIsEighty) {
  EXPECT_EQ(terminal_width(-1), 80);
}

}  // namespace
}  // namespace ddprun::output
