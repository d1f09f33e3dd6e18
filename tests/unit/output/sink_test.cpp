#include "launcher/output/sink.h"

#include <sys/socket.h>
#include <sys/stat.h>

#include <csignal>
#include <cstdlib>

#include "tests/unit/output/descriptors.h"

namespace ddprun::output {
namespace {

struct Pair {
  UniqueFd reader;
  UniqueFd ours;
};

Pair from(Channel channel) {
  return {std::move(channel.read_end), std::move(channel.write_end)};
}

Pair make_socket() {
  int ends[2];
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  Pair pair{UniqueFd(ends[0]), UniqueFd(ends[1])};
  EXPECT_EQ(::fcntl(pair.reader.get(), F_SETFL, O_NONBLOCK), 0);
  return pair;
}

struct Case {
  const char* name;
  std::function<Pair()> make;
  bool may_reopen;
};

void PrintTo(const Case& one, std::ostream* out) {
  *out << one.name;
}

class EverySink : public ::testing::TestWithParam<Case> {
 protected:
  void SetUp() override { std::signal(SIGPIPE, SIG_IGN); }

  // Bytes taken until the sink would have to wait.
  static std::string fill(const Sink& sink) {
    std::string taken;
    for (int letter = 0;; letter = (letter + 1) % 26) {
      const std::string piece(1000, static_cast<char>('a' + letter));
      const ssize_t n = sink.write(piece);
      EXPECT_GE(n, 0);
      if (n <= 0) return taken;
      taken.append(piece, 0, static_cast<std::size_t>(n));
    }
  }

  static bool ready(const Sink& sink, const UniqueFd& waiter) {
    pollfd event{waiter.get(), static_cast<short>(sink.waits_for_write() ? POLLOUT : POLLIN), 0};
    return ::poll(&event, 1, 0) == 1;
  }
};

TEST_P(EverySink, NeverBlocksAndNeverTouchesTheSharedFlags) {
  Pair pair = GetParam().make();
  const Sink sink(pair.ours.get(), GetParam().may_reopen);
  const UniqueFd waiter = sink.make_waiter();
  ASSERT_TRUE(waiter);
  const std::string taken = fill(sink);
  EXPECT_GT(taken.size(), 1000U);
  EXPECT_FALSE(ready(sink, waiter));
  EXPECT_FALSE(is_non_blocking(pair.ours.get()));
  EXPECT_EQ(wait_and_read(pair.reader.get(), taken.size()), taken);
  EXPECT_TRUE(ready(sink, waiter));
  EXPECT_GT(sink.write("more"), 0);
}

TEST_P(EverySink, AReaderThatIsGoneIsAnErrorCode) {
  Pair pair = GetParam().make();
  const Sink sink(pair.ours.get(), GetParam().may_reopen);
  pair.reader.reset();
  const ssize_t result = sink.write("x");
  EXPECT_TRUE(result == -EPIPE || result == -EIO) << result;
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, EverySink,
    ::testing::Values(Case{"pipe", [] { return from(pipe_to_us()); }, true},
                      Case{"terminal", [] { return from(terminal_to_us()); }, true},
                      Case{"socket", make_socket, true},
                      Case{"shared_pipe", [] { return from(pipe_to_us()); }, false},
                      Case{"shared_terminal", [] { return from(terminal_to_us()); }, false}),
    [](const auto& test) { return test.param.name; });

TEST(Sink, AClosedDescriptorTakesEverything) {
  const Sink sink(-1);
  EXPECT_EQ(sink.write("abc"), 3);
  EXPECT_FALSE(sink.is_terminal());
  EXPECT_FALSE(sink.same_file(sink));
}

TEST(Sink, AFileIsWrittenDirectlyAtTheSharedOffset) {
  char name[] = "/tmp/ddprun_sink_XXXXXX";
  const UniqueFd file(::mkstemp(name));
  ::unlink(name);
  const Sink sink(file.get());
  write_all(file.get(), "shell ");
  EXPECT_EQ(sink.write("ddprun"), 6);
  EXPECT_FALSE(sink.make_waiter());
  struct stat status {};
  ASSERT_EQ(::fstat(file.get(), &status), 0);
  EXPECT_EQ(status.st_size, 12);
}

TEST(Sink, AFullDiskIsAnErrorCode) {
  const UniqueFd full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
  ASSERT_TRUE(full);
  EXPECT_EQ(Sink(full.get()).write("x"), -ENOSPC);
}

TEST(Sink, KnowsTwoDescriptorsOfOnePipe) {
  Channel one = pipe_to_us();
  Channel other = pipe_to_us();
  const UniqueFd copy(::dup(one.write_end.get()));
  EXPECT_TRUE(Sink(one.write_end.get()).same_file(Sink(copy.get())));
  EXPECT_FALSE(Sink(one.write_end.get()).same_file(Sink(other.write_end.get())));
}

}  // namespace
}  // namespace ddprun::output
