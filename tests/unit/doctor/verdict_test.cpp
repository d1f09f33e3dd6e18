// What is said about a machine.
#include "launcher/doctor/verdict.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <boost/json.hpp>

#include "launcher/devices/discover.h"
#include "launcher/devices/visible.h"
#include "launcher/doctor/findings.h"

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
  facts.memory_available = 60 * kGibi;
  facts.libc = "glibc 2.36";
  facts.time = "2026-11-30T18:00:00Z";
  facts.gpus.remark = "no NVIDIA driver";
  facts.host = {.name = "gpu07", .addresses = {"10.0.0.7"}};
  facts.interfaces = {{"eth0", {"10.0.0.7", "fe80::1%eth0"}}, {"ib0", {"10.1.0.7"}}};
  facts.ports = {{29400, ""}, {29500, ""}};
  facts.processes_soft = 4096;
  facts.locked_memory = ~0ULL;
  facts.stack_tool = "/usr/bin/eu-stack";
  facts.clock_synchronized = true;
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
  EXPECT_THAT(
      screen,
      AllOf(HasSubstr("ddprun 1.2.3 on Linux 6.1 x86_64, glibc 2.36, 2026-11-30T18:00:00Z\n"),
            HasSubstr("ok       CPUs           16 CPUs allowed (0-15)\n"),
            HasSubstr("ok       memory         64 GiB, 60 GiB available\n"),
            HasSubstr("ok       host name      gpu07 is 10.0.0.7 (0 ms)\n"),
            HasSubstr("\nnothing to complain of\n")));
  EXPECT_LE(std::ranges::count(screen, '\n'), 30);
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
  facts.cgroup_memory = {.limit = 2 * kGibi, .used = 1 * kGibi};
  EXPECT_EQ(about("memory", facts).text,
            "64 GiB, 60 GiB available; the cgroup's limit is 2 GiB, 1 GiB used");
  EXPECT_EQ(about("memory", facts).verdict, Verdict::ok);
  facts.cgroup_memory.used = 2 * kGibi - 1000;
  EXPECT_EQ(complaint(facts).subject, "memory");
  facts.cgroup_memory = {};
  facts.memory_available = 1000;
  EXPECT_EQ(complaint(facts).subject, "memory");
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
  EXPECT_THAT(complaint(facts).text, HasSubstr("no answer from the name server"));
  facts.host = {.name = "gpu07", .failure = "Name or service not known"};
  EXPECT_EQ(complaint(facts).text, "gpu07: Name or service not known");
  facts.host = {.name = "gpu07", .addresses = {"127.0.1.1", "::1"}};
  EXPECT_EQ(complaint(facts).text, "gpu07 is 127.0.1.1, ::1 (0 ms): loopback only");
  facts.host = {.name = "gpu07", .addresses = {"10.0.0.7"}, .took = std::chrono::seconds(3)};
  EXPECT_THAT(complaint(facts).advice, HasSubstr("the name server is slow"));
  facts.host = {.name = "gpu07", .addresses = {"10.0.0.9"}};
  EXPECT_THAT(complaint(facts).text, HasSubstr("no interface here has 10.0.0.9"));
}

TEST(DoctorTest, AnInterfaceThatIsNotThereIsAProblem) {
  Facts facts = good_machine();
  facts.interface_choices = {"NCCL_SOCKET_IFNAME=ib1"};
  EXPECT_EQ(complaint(facts).verdict, Verdict::problem);
  EXPECT_THAT(complaint(facts).text, HasSubstr("NCCL_SOCKET_IFNAME=ib1"));
  for (const char* good : {"ib", "ib0", "^docker", "=eth0,ib1", "x,eth", "lo", ""})
    EXPECT_FALSE(names_no_interface(good, facts.interfaces)) << good;
  for (const char* bad : {"=ib", "=eth", "enp,x"})
    EXPECT_TRUE(names_no_interface(bad, facts.interfaces)) << bad;
}

TEST(DoctorTest, AnEndpointThatCannotBeReachedIsAProblem) {
  Facts facts = good_machine();
  facts.endpoint = Endpoint{.host = {.name = "head", .addresses = {"10.0.0.1"}}, .port = 29400};
  EXPECT_EQ(about("endpoint", facts).text, "head:29400 is 10.0.0.1: takes connections");
  EXPECT_EQ(about("endpoint", facts).verdict, Verdict::ok);
  facts.endpoint->failure = "Connection refused";
  EXPECT_EQ(complaint(facts).verdict, Verdict::warn);
  facts.endpoint->timed_out = true;
  EXPECT_EQ(complaint(facts).text, "head:29400 is 10.0.0.1: no answer");
  EXPECT_EQ(complaint(facts).verdict, Verdict::problem);
  facts.endpoint->host = {.name = "head", .failure = "Name or service not known"};
  EXPECT_EQ(complaint(facts).text, "head:29400: Name or service not known");
  EXPECT_EQ(complaint(facts).verdict, Verdict::problem);
  facts.endpoint->host = {.name = "head", .timed_out = true};
  EXPECT_EQ(complaint(facts).verdict, Verdict::problem);
}

TEST(DoctorTest, WhoHasAPortIsNamedAndTheOneThatIsNeededMustBeFree) {
  Facts facts = good_machine();
  EXPECT_EQ(about("ports", facts).text, "29400 is free, 29500 is free");
  facts.ports[0].holder = "pid 7 (rdzvd)";
  EXPECT_EQ(complaint(facts).text, "29400: pid 7 (rdzvd), 29500 is free");
  EXPECT_EQ(complaint(facts).verdict, Verdict::warn);
  facts.needed_port = Port{29612, "pid 9 (train)"};
  EXPECT_EQ(complaint(facts).verdict, Verdict::problem);
  EXPECT_EQ(complaint(facts).text, "29612: pid 9 (train)");
}

TEST(DoctorTest, AFirewallIsAWarning) {
  Facts facts = good_machine();
  facts.firewalls = {"ufw"};
  EXPECT_EQ(complaint(facts).verdict, Verdict::warn);
}

TEST(DoctorTest, ADriverThatFitsNotIsNamed) {
  Facts facts = good_machine();
  facts.gpus = devices::simulate(1);
  facts.gpus.source = devices::Source::nvml;
  facts.driver = "535.54.03";
  facts.torch = {.version = "2.11.0", .cuda = "12.6", .nccl = "2.28.9", .folder = "/t"};
  EXPECT_EQ(about("PyTorch", facts).text, "2.11.0 in /t, CUDA 12.6");
  EXPECT_EQ(about("PyTorch", facts).verdict, Verdict::ok);
  EXPECT_EQ(about("GPUs", facts).text, "1 GPU: simulated GPU, driver 535.54.03");
  facts.torch.cuda = "13.0";
  EXPECT_THAT(complaint(facts).advice,
              HasSubstr("needs driver 580 or newer; here it is 535.54.03"));
  facts.torch.cuda.clear();
  EXPECT_THAT(complaint(facts).text, HasSubstr("without CUDA"));
  facts.torch.cuda = "12.6";
  facts.torch.nccl.clear();
  EXPECT_EQ(complaint(facts).subject, "NCCL");
  facts.nccl = "2.27.3";
  EXPECT_EQ(about("NCCL", facts).text, "2.27.3 of the system");
}

TEST(DoctorTest, WhatHangsIsNamed) {
  Facts facts = good_machine();
  facts.gpus_timed_out = true;
  EXPECT_EQ(complaint(facts).text, "the driver does not answer");
  EXPECT_EQ(complaint(facts).verdict, Verdict::problem);
  facts = good_machine();
  facts.temporary.timed_out = true;
  EXPECT_EQ(complaint(facts).text, "/tmp: its file system does not answer");
  facts = good_machine();
  facts.torch.timed_out = true;
  EXPECT_EQ(complaint(facts).verdict, Verdict::warn);
}

TEST(DoctorTest, ADriverWithoutGpusIsAWarning) {
  Facts facts = good_machine();
  facts.driver = "580.65.06";
  EXPECT_THAT(complaint(facts).advice, HasSubstr("--gpus all"));
}

TEST(DoctorTest, JsonSaysTheSame) {
  Facts facts = good_machine();
  facts.firewalls = {"ufw"};
  const boost::json::value value = boost::json::parse(json_text(facts, examine(facts)));
  EXPECT_EQ(value.at("problems"), 0);
  EXPECT_EQ(value.at("warnings"), 1);
  EXPECT_EQ(value.at("host"), "gpu07");
  EXPECT_EQ(value.at("findings").as_array().size(), examine(facts).size());
  EXPECT_EQ(value.at("findings").at(0).at("subject"), "CPUs");
  EXPECT_TRUE(value.at("findings").at(0).at("advice").is_null());
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
  facts = good_machine();
  facts.stack_tool.clear();
  EXPECT_EQ(complaint(facts).subject, "stacks");
  facts = good_machine();
  facts.processes_soft = 100;
  EXPECT_EQ(complaint(facts).text, "100");
  facts.is_root = true;
  EXPECT_EQ(about("processes", facts).verdict, Verdict::ok);
  facts.cgroup_processes = {.limit = 1200, .used = 300};
  EXPECT_EQ(complaint(facts).text, "no limit for root; the cgroup's limit is 1200, 300 used");
  facts = good_machine();
  facts.locked_memory = 8 << 20;
  EXPECT_EQ(about("locked memory", facts).verdict, Verdict::ok) << "nobody needs it";
  facts.infiniband = {"mlx5_0"};
  EXPECT_EQ(complaint(facts).text, "8 MiB at most; InfiniBand: mlx5_0");
  facts = good_machine();
  facts.clock_synchronized = false;
  EXPECT_EQ(complaint(facts).subject, "clock");
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
