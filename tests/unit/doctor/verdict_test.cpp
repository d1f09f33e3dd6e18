// What is said about a machine.
#include "launcher/doctor/verdict.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "launcher/devices/discover.h"
#include "launcher/devices/visible.h"

namespace ddprun::doctor {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr unsigned long long kGibi = 1ULL << 30;

Facts good_machine() {
  Facts facts;
  facts.version = "1.2.3";
  facts.kernel = "Linux 6.1 x86_64";
  facts.cpus = "0-15";
  facts.affinity_cpus = facts.allowed_cpus = 16;
  facts.memory = 64 * kGibi;
  facts.gpus.remark = "no NVIDIA driver";
  facts.host = {.name = "gpu07", .addresses = {"10.0.0.7"}};
  facts.open_files_soft = 1024;
  facts.open_files_hard = 1048576;
  facts.shared_memory = {"/dev/shm", true, 32 * kGibi};
  facts.temporary = {"/tmp", true, 100 * kGibi};
  facts.python = "/usr/bin/python3";
  facts.core_pattern = "core";
  return facts;
}

Finding about(const std::string& subject, const Facts& facts) {
  const auto findings = examine(facts);
  const auto found = std::ranges::find(findings, subject, &Finding::subject);
  if (found != findings.end()) return *found;
  ADD_FAILURE() << "nothing about " << subject;
  return {};
}

// The one finding that is not good, and its subject.
Finding complaint(const Facts& facts) {
  std::vector<Finding> bad;
  for (const Finding& finding : examine(facts))
    if (finding.verdict != Verdict::ok) bad.push_back(finding);
  EXPECT_EQ(bad.size(), 1u) << text(facts, bad);
  if (bad.empty()) return {};
  EXPECT_NE(bad[0].advice, "") << bad[0].subject;
  return bad[0];
}

TEST(DoctorTest, AGoodMachineIsOneScreenWithoutComplaints) {
  const Facts facts = good_machine();
  const auto findings = examine(facts);
  EXPECT_EQ(exit_code(findings), 0);
  const std::string screen = text(facts, findings);
  EXPECT_THAT(screen, AllOf(HasSubstr("ddprun 1.2.3 on Linux 6.1 x86_64\n"),
                            HasSubstr("ok       CPUs           16 CPUs allowed (0-15)\n"),
                            HasSubstr("ok       memory         64 GiB\n"),
                            HasSubstr("ok       host name      gpu07 is 10.0.0.7\n"),
                            HasSubstr("\nnothing to complain of\n")));
  EXPECT_LE(std::ranges::count(screen, '\n'), 24);
}

TEST(DoctorTest, AQuotaBelowTheMaskIsAWarning) {
  Facts facts = good_machine();
  facts.allowed_cpus = 2;
  const Finding finding = complaint(facts);
  EXPECT_EQ(finding.verdict, Verdict::warn);
  EXPECT_THAT(finding.text, HasSubstr("the cgroup's quota is worth 2"));
  EXPECT_EQ(exit_code(examine(facts)), 0) << "a warning stops no job";
}

TEST(DoctorTest, AMemoryLimitIsShown) {
  Facts facts = good_machine();
  facts.memory_limit = 2 * kGibi;
  EXPECT_EQ(about("memory", facts).text, "64 GiB, the cgroup's limit is 2 GiB");
}

TEST(DoctorTest, GpusAreCountedAndTheListIsExplained) {
  Facts facts = good_machine();
  facts.gpus = devices::simulate(8);
  facts.visible = devices::visible("3,1", facts.gpus);
  EXPECT_EQ(about("GPUs", facts).text, "8 GPUs: simulated GPU");
  EXPECT_EQ(about("visible list", facts).text,
            "CUDA_VISIBLE_DEVICES='3,1' shows GPU ids 3, 1 as cuda:0 and on");
  facts.visible = devices::visible("0,0", facts.gpus);
  const Finding finding = complaint(facts);
  EXPECT_EQ(finding.verdict, Verdict::problem);
  EXPECT_THAT(finding.advice, HasSubstr("names GPU 0 twice"));
  EXPECT_EQ(exit_code(examine(facts)), 1);
}

TEST(DoctorTest, ADriverThatDoesNotAnswerIsAProblem) {
  Facts facts = good_machine();
  facts.gpus.failed = true;
  facts.gpus.remark = "the NVIDIA driver does not start: Driver Not Loaded";
  EXPECT_EQ(complaint(facts).verdict, Verdict::problem);
}

TEST(DoctorTest, ABusyGpuIsNamed) {
  Facts facts = good_machine();
  facts.gpus = devices::simulate(2);
  facts.gpus.gpus[1].processes.push_back({.pid = 7, .command = "train", .user = "ann"});
  facts.visible = devices::visible(std::nullopt, facts.gpus);
  EXPECT_THAT(complaint(facts).text, HasSubstr("GPU 1 is busy: pid 7 (train, user ann)"));
}

TEST(DoctorTest, NamesThatLeadNowhereAreWarnings) {
  Facts facts = good_machine();
  facts.host = {.name = "gpu07", .timed_out = true};
  EXPECT_THAT(complaint(facts).text, HasSubstr("no answer from the name server in 2 s"));
  facts.host = {.name = "gpu07", .failure = "Name or service not known"};
  EXPECT_EQ(complaint(facts).text, "gpu07: Name or service not known");
  facts.host = {.name = "gpu07", .addresses = {"127.0.1.1", "::1"}};
  EXPECT_EQ(complaint(facts).text, "gpu07 is 127.0.1.1, ::1: loopback only");
}

TEST(DoctorTest, WhatStopsAJobIsAProblem) {
  Facts facts = good_machine();
  facts.loopback_failure = "cannot listen on 127.0.0.1: Network is down";
  EXPECT_EQ(complaint(facts).verdict, Verdict::problem);
  facts = good_machine();
  facts.temporary.writable = false;
  EXPECT_EQ(complaint(facts).verdict, Verdict::problem);
  EXPECT_THAT(complaint(facts).text, HasSubstr("/tmp cannot be written to"));
}

TEST(DoctorTest, SmallLimitsAreWarnings) {
  Facts facts = good_machine();
  facts.open_files_hard = 1024;
  EXPECT_EQ(complaint(facts).subject, "open files");
  facts = good_machine();
  facts.shared_memory.free_bytes = 1 << 20;
  EXPECT_EQ(complaint(facts).text, "/dev/shm, 1 MiB free");
  facts = good_machine();
  facts.python.clear();
  EXPECT_EQ(complaint(facts).subject, "python3");
  facts = good_machine();
  facts.hwloc_failure = "its module is not there";
  EXPECT_EQ(complaint(facts).verdict, Verdict::warn);
}

TEST(DoctorTest, SchedulersAndCoresAreShown) {
  Facts facts = good_machine();
  facts.scheduler = {"SLURM_JOB_ID=7", "SLURM_NTASKS=4"};
  EXPECT_EQ(about("scheduler", facts).text, "SLURM_JOB_ID=7, SLURM_NTASKS=4");
  EXPECT_EQ(about("core dumps", facts).text, "off (ulimit -c is 0), pattern core");
  facts.core_pattern = "|/usr/share/apport %p";
  EXPECT_EQ(about("core dumps", facts).text, "on, pattern |/usr/share/apport %p");
}

}  // namespace
}  // namespace ddprun::doctor
