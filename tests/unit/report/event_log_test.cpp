#include "launcher/report/event_log.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>

#include "rendezvous/base/read_file.h"
#include "tests/support/temporary_folder.h"

namespace ddprun::report {
namespace {

using namespace std::chrono_literals;
using supervise::Time;
using ::testing::HasSubstr;

// Midnight, 1 January 2026.
const WallClock kClock{Time(100s), std::chrono::system_clock::time_point(1767225600s)};

TEST(IsoTime, IsUtcWithNanoseconds) {
  EXPECT_EQ(iso_time(kClock, Time(101s + 5ns)), "2026-01-01T00:00:01.000000005Z");
  EXPECT_EQ(iso_time(kClock, Time(99s + 999ms)), "2025-12-31T23:59:59.999000000Z");
}

class EventLogTest : public ::testing::Test {
 protected:
  std::string path() const { return folder_ / "events"; }
  const test::TemporaryFolder folder_;
};

TEST_F(EventLogTest, AppendsOneLineForEachEvent) {
  {
    auto log = EventLog::open(path(), kClock);
    ASSERT_TRUE(log);
    log->add(Time(100s), "worker_started", {{"rank", 1}});
  }
  auto log = EventLog::open(path(), kClock);
  log->add(Time(102s), "worker_ended", {{"rank", 1}, {"code", 3}});
  EXPECT_EQ(read_file(path()).value(),
            R"({"time":"2026-01-01T00:00:00.000000000Z","event":"worker_started","rank":1})"
            "\n"
            R"({"time":"2026-01-01T00:00:02.000000000Z","event":"worker_ended","rank":1,"code":3})"
            "\n");
  EXPECT_EQ(log->dropped(), 0U);
}

TEST_F(EventLogTest, APipeWithoutReaderKeepsWhatFitsAndDropsTheRest) {
  ASSERT_EQ(::mkfifo(path().c_str(), 0600), 0);
  auto log = EventLog::open(path(), kClock);
  ASSERT_TRUE(log);
  for (int i = 0; i < 2000; ++i) log->add(Time(100s), "worker_started", {{"rank", i}});
  EXPECT_GT(log->dropped(), 0U);
  // A reader that comes late finds whole lines from the first one on.
  const UniqueFd reader(::open(path().c_str(), O_RDONLY | O_NONBLOCK));
  std::string text(1 << 20, '\0');
  const ssize_t got = ::read(reader.get(), text.data(), text.size());
  ASSERT_GT(got, 0);
  text.resize(static_cast<std::size_t>(got));
  EXPECT_THAT(text, HasSubstr("\"rank\":0}\n"));
  const auto lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  EXPECT_EQ(lines + log->dropped(), 2000U);
  // With room again the next event is whole and follows whole lines.
  log->add(Time(100s), "last", {});
  text.assign(1 << 16, '\0');
  text.resize(static_cast<std::size_t>(::read(reader.get(), text.data(), text.size())));
  EXPECT_THAT(text, ::testing::EndsWith("\"event\":\"last\"}\n"));
}

TEST_F(EventLogTest, AFileThatCannotBeWrittenIsNamed) {
  EXPECT_EQ(EventLog::open("/no/such/folder/x", kClock).error().text,
            "--events: cannot write '/no/such/folder/x': no such file or directory");
  EXPECT_THAT(EventLog::open(folder_.path(), kClock).error().text, HasSubstr("is a directory"));
}

TEST(EventLogTo, AFunction) {
  std::string text;
  EventLog log([&](const std::string& line) { text += line; }, kClock);
  log.add(Time(100s), "job_started", {});
  EXPECT_THAT(text, HasSubstr("\"job_started\"}\n"));
  EXPECT_FALSE(EventLog());
  EventLog().add(Time(100s), "nothing happens", {});
}

}  // namespace
}  // namespace ddprun::report
