#include "launcher/report/core_dump.h"

#include <gtest/gtest.h>

#include "tests/unit/report/jobs.h"

namespace ddprun::report {
namespace {

const CoreSubject kSubject{4711, 6, "/opt/bin/a_long_program_name", "/home/me", "gpu07", 1000, 100};

std::string file_of(std::string_view pattern, bool uses_pid = false) {
  return core_place(pattern, uses_pid, kSubject).file;
}

TEST(CorePlace, PatternsAreExpandedAsTheKernelDoes) {
  EXPECT_EQ(file_of("core\n"), "/home/me/core");
  EXPECT_EQ(file_of("core\n", true), "/home/me/core.4711");
  EXPECT_EQ(file_of("core.%p", true), "/home/me/core.4711") << "the pid is not named twice";
  EXPECT_EQ(file_of("/var/cores/%h/%e.%p.%s.%u.%g.%%"),
            "/var/cores/gpu07/a_long_program_.4711.6.1000.100.%");
  EXPECT_EQ(file_of("/c/%E"), "/c/!opt!bin!a_long_program_name");
  EXPECT_EQ(file_of("/c/core.%t.%i%"), "/c/core.*.*");
  EXPECT_EQ(file_of(""), "/home/me/core");
}

TEST(CorePlace, APathIsShownWithoutDetours) {
  CoreSubject subject = kSubject;
  subject.folder = "/home/me/.";
  EXPECT_EQ(core_place("core", false, subject).file, "/home/me/core");
}

TEST(CorePlace, AHandlerIsNamed) {
  const auto place = core_place("|/usr/lib/systemd/systemd-coredump %P %u\n", false, kSubject);
  EXPECT_EQ(place.handler, "/usr/lib/systemd/systemd-coredump");
  EXPECT_EQ(core_line(place, "", 4711),
            "core: taken by '/usr/lib/systemd/systemd-coredump' (coredumpctl info 4711)");
  EXPECT_EQ(core_line(core_place("| /opt/take -x", false, kSubject), "", 4711),
            "core: taken by '/opt/take'");
}

TEST(CoreLine, SaysWhetherTheFileIsThere) {
  const CorePlace place{"/home/me/core", ""};
  EXPECT_EQ(core_line(place, "/home/me/core", 1), "core: /home/me/core");
  EXPECT_EQ(core_line(place, "", 1), "core: expected at /home/me/core, but it is not there");
}

TEST(CoreLine, StandsInTheReport) {
  Job job(1);
  job.fail_first(0, died(SIGABRT, true), 1s);
  job.facts.core = "core: /home/me/core";
  EXPECT_NE(job.text().find("\n  core: /home/me/core\n"), std::string::npos) << job.text();
}

}  // namespace
}  // namespace ddprun::report
