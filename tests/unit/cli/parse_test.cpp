// What each option means, and what is said about values that mean nothing.
#include <gmock/gmock.h>

#include "tests/unit/cli/parsing.h"

namespace ddprun::cli {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(Parse, DefaultsAskForNothing) {
  const JobSpec job = job_of({"p", "x"});
  EXPECT_EQ(job.workers.kind, WorkerCount::Kind::unset);
  EXPECT_EQ(job.device, DeviceChoice::automatic);
  EXPECT_EQ(job.shutdown_timeout, milliseconds(30'000));
  EXPECT_EQ(job.simulated_gpus, std::nullopt);
  EXPECT_EQ(job.master_port, std::nullopt);
  EXPECT_EQ(job.role, "default");
  EXPECT_EQ(job.verbosity, Verbosity::normal);
  EXPECT_FALSE(job.standalone || job.oversubscribe || job.dry_run || job.module || job.no_python);
  EXPECT_THAT(job.notices, IsEmpty());
}

TEST(Parse, ReadsEveryBuiltOption) {
  const JobSpec job = job_of({"-n",
                              "gpu",
                              "--device=cuda",
                              "--oversubscribe",
                              "--simulate-gpus",
                              "8",
                              "--master-addr",
                              "localhost",
                              "--master-port",
                              "4000",
                              "--shutdown-timeout",
                              "1.5",
                              "--dry-run",
                              "--pass-local-rank",
                              "-m",
                              "-v",
                              "--role",
                              "trainer",
                              "--rdzv-id",
                              "run 7",
                              "p"});
  EXPECT_EQ(job.workers.kind, WorkerCount::Kind::gpu);
  EXPECT_EQ(job.device, DeviceChoice::cuda);
  EXPECT_TRUE(job.oversubscribe);
  EXPECT_EQ(job.simulated_gpus, 8);
  EXPECT_EQ(job.master_addr, "localhost");
  EXPECT_EQ(job.master_port, 4000);
  EXPECT_EQ(job.shutdown_timeout, milliseconds(1500));
  EXPECT_TRUE(job.dry_run);
  EXPECT_EQ(job.local_rank_argument, LocalRankArgument::dash);
  EXPECT_TRUE(job.module);
  EXPECT_EQ(job.verbosity, Verbosity::verbose);
  EXPECT_EQ(job.role, "trainer");
  EXPECT_EQ(job.run_id, "run 7");
  EXPECT_TRUE(job_of({"--no-python", "p.py"}).no_python);
  EXPECT_TRUE(job_of({"--run-path", "p"}).run_path);
  EXPECT_TRUE(job_of({"--standalone", "p"}).standalone);
  EXPECT_EQ(job_of({"-q", "p"}).verbosity, Verbosity::quiet);
  EXPECT_EQ(job_of({"--device", "cpu", "p"}).device, DeviceChoice::cpu);
  EXPECT_EQ(job_of({"-nauto", "p"}).workers.kind, WorkerCount::Kind::automatic);
  EXPECT_EQ(job_of({"-n=cpu", "p"}).workers.kind, WorkerCount::Kind::cpu);
}

TEST(Parse, PassLocalRankHasTwoSpellings) {
  EXPECT_EQ(job_of({"--pass-local-rank=local_rank", "p"}).local_rank_argument,
            LocalRankArgument::underscore);
  EXPECT_EQ(job_of({"--pass-local-rank=local-rank", "p"}).local_rank_argument,
            LocalRankArgument::dash);
  EXPECT_THAT(error_of({"--pass-local-rank=rank", "p"}), HasSubstr("'rank' is not a spelling"));
  // The word behind it is the program, never its value.
  EXPECT_EQ(job_of({"--pass-local-rank", "local_rank"}).command, Words{"local_rank"});
}

TEST(Parse, RefusesWhatIsNoWorkerCount) {
  EXPECT_EQ(
      error_of({"-n", "x", "p"}),
      "ddprun: --nproc-per-node: 'x' is not a number of workers; write a number from 1, auto, "
      "gpu or cpu");
  for (const char* count : {"0", "-3", "16385", "99999999999"}) {
    EXPECT_EQ(error_of({"--nproc-per-node", count, "p"}),
              "ddprun: --nproc-per-node: '" + std::string(count) +
                  "' is not a possible number of workers; write 1 to 16384, auto, gpu or cpu");
  }
  EXPECT_EQ(error_of({"-n", "gpu:4", "p"}),
            "ddprun: --nproc-per-node: 'gpu:4' is not a number of workers; write 4, or gpu for one "
            "worker on each visible GPU");
  EXPECT_THAT(error_of({"-n", "4 ", "p"}), HasSubstr("there is a blank in it"));
  EXPECT_THAT(error_of({"-n", "4.0", "p"}), HasSubstr("'4.0' is not a number of workers"));
  EXPECT_THAT(error_of({"-n", "xpu", "p"}), HasSubstr("'xpu' devices are not discovered"));
  EXPECT_THAT(error_of({"-n=--work-dir", "p"}),
              HasSubstr("'--work-dir' is not a number of workers"));
}

TEST(Parse, RefusesWhatIsNoPort) {
  for (const char* port : {"66660", "-1", "abc", "789456", "0x10", "80.0"}) {
    EXPECT_EQ(error_of({"--master-port", port, "p"}),
              "ddprun: --master-port: '" + std::string(port) +
                  "' is not a port; write 1 to 65535, or on one node 0 to have one chosen");
  }
  EXPECT_EQ(error_of({"--master-port", "29500 ", "p"}),
            "ddprun: --master-port: '29500 ' is not a port (there is a blank in it); write 1 to "
            "65535, or on one node 0 to have one chosen");
  EXPECT_EQ(error_of({"--master-port", "", "p"}),
            "ddprun: --master-port: the value is empty; write PORT");
  EXPECT_EQ(job_of({"--master-port", "0", "p"}).master_port, std::nullopt);
  EXPECT_EQ(job_of({"--master-port", "65535", "p"}).master_port, 65535);
}

TEST(Parse, RefusesWhatIsNoTime) {
  for (const char* time : {"abc", "-1", "nan", "inf", "1e99", "30s", "604801", "-0.001"}) {
    EXPECT_EQ(error_of({"--shutdown-timeout", time, "p"}),
              "ddprun: --shutdown-timeout: '" + std::string(time) +
                  "' is not a time in seconds; write 0 to 604800, fractions are allowed");
  }
  EXPECT_EQ(job_of({"--shutdown-timeout", "0", "p"}).shutdown_timeout, milliseconds(0));
  EXPECT_EQ(job_of({"--shutdown-timeout=.25", "p"}).shutdown_timeout, milliseconds(250));
}

TEST(Parse, RefusesOtherBadValuesByTheirWord) {
  EXPECT_THAT(error_of({"--device", "gpu", "p"}), HasSubstr("--device: 'gpu' is not a device"));
  EXPECT_THAT(error_of({"--simulate-gpus", "-1", "p"}),
              HasSubstr("'-1' is out of range; write 0 to 1024"));
  EXPECT_THAT(error_of({"--simulate-gpus", "all", "p"}), HasSubstr("'all' is not a number"));
  EXPECT_THAT(error_of({"--master-addr", "a:29500", "p"}),
              HasSubstr("write --master-addr a --master-port 29500"));
  EXPECT_THAT(error_of({"--rdzv-endpoint", "node0.example", "p"}),
              HasSubstr("'node0.example' has no port; write node0.example:PORT"));
  EXPECT_THAT(error_of({"--rdzv-endpoint", "30000", "p"}),
              HasSubstr("'30000' has no host; write localhost:30000"));
  EXPECT_THAT(error_of({"--nnodes", "1:1:1", "p"}), HasSubstr("'1:1:1' is not a number of nodes"));
  EXPECT_THAT(error_of({"--nnodes", "3:2", "p"}), HasSubstr("'3:2' is not a number of nodes"));
  EXPECT_THAT(error_of({"--nnodes", "0", "p"}), HasSubstr("'0' is not a number of nodes"));
  EXPECT_THAT(error_of({"--monitor-interval", "fast", "p"}), HasSubstr("'fast' is not a time"));
  EXPECT_THAT(error_of({"--rdzv-backend", "etcd-v2", "p"}), HasSubstr("write static or c10d"));
  EXPECT_THAT(error_of({"--logs-specs", "mine", "p"}), HasSubstr("cannot be loaded by ddprun"));
}

TEST(Parse, NamesValuesThatNobodyExpanded) {
  EXPECT_THAT(error_of({"--nproc_per_node=$(PET_NPROC_PER_NODE)", "p"}),
              HasSubstr("--nproc-per-node: '$(PET_NPROC_PER_NODE)' was not replaced by a value"));
  EXPECT_THAT(error_of({"-n", "$GPUS", "p"}), HasSubstr("'$GPUS' was not replaced by a value"));
  EXPECT_THAT(error_of({"--master-addr", "${HEAD}", "p"}), HasSubstr("'${HEAD}' was not replaced"));
}

TEST(Parse, SaysWhatToDoInThePlaceOfEtcd) {
  const std::string error = error_of({"--rdzv-backend", "etcd", "p"});
  EXPECT_THAT(error, HasSubstr("--rdzv-backend: 'etcd': ddprun itself does not speak to etcd"));
  EXPECT_THAT(error, HasSubstr("rdzvd --state etcd://HOST:PORT"));
  EXPECT_THAT(error, HasSubstr("--rdzv-endpoint HOST:PORT,HOST:PORT"));
}

TEST(Parse, TakesValuesThatAskForWhatThereIsAnyway) {
  const JobSpec job =
      job_of({"--nnodes=1:1", "--node_rank=0", "--max_restarts=0", "-r", "1:0,2:0", "-t", "0",
              "--rdzv_backend=c10d", "--start_method=spawn", "--monitor_interval=5",
              "--event-log-handler=null", "--numa-binding=none", "--use-env",
              "--signals-to-handle=SIGINT,SIGTERM,SIGQUIT,SIGHUP", "p"});
  EXPECT_THAT(job.notices, IsEmpty());
  EXPECT_EQ(job.command, Words{"p"});
}

TEST(Parse, AStaticEndpointIsTheAddressAndPort) {
  const JobSpec job = job_of({"--rdzv-endpoint", "[::1]:4000", "p"});
  EXPECT_EQ(job.master_addr, "::1");
  EXPECT_EQ(job.master_port, 4000);
  EXPECT_THAT(job_of({"--rdzv-endpoint=localhost:4000", "--master-port=x", "p"}).notices,
              ElementsAre("--master-port: meaningless with --rdzv-endpoint, ignored"));
}

TEST(Parse, SaysOnceWhatIsMeaninglessAndDoesNotValidateIt) {
  const JobSpec alone = job_of({"--standalone", "--master-port=123456", "--rdzv-endpoint=x", "p"});
  EXPECT_THAT(
      alone.notices,
      ElementsAre("--master-port, --rdzv-endpoint: meaningless with --standalone, ignored"));
  EXPECT_EQ(alone.master_port, std::nullopt);
  EXPECT_THAT(
      job_of({"--device=cpu", "--oversubscribe", "--simulate-gpus=x", "p"}).notices,
      ElementsAre("--oversubscribe, --simulate-gpus: meaningless with --device cpu, ignored"));
  EXPECT_THAT(job_of({"--rdzv-backend=c10d", "--rdzv-endpoint=h", "--local-addr=a", "p"}).notices,
              ElementsAre("--rdzv-endpoint: meaningless with one node, ignored",
                          "--local-addr: meaningless with one node, ignored"));
  EXPECT_THAT(job_of({"--rdzv-backend=c10d", "--node-rank=3", "p"}).notices,
              ElementsAre("--node-rank: meaningless with --rdzv-backend c10d, ignored"));
  EXPECT_THAT(job_of({"--rdzv-backend=c10d", "--node-rank=0", "p"}).notices, IsEmpty());
  const JobSpec old = job_of({"--pass-local-rank", "--use-env", "p"});
  EXPECT_EQ(old.local_rank_argument, LocalRankArgument::none);
  EXPECT_THAT(
      job_of({"--master-addr", "192.0.2.1", "p"}).notices,
      ElementsAre("--master-addr: one node needs no '192.0.2.1', its workers meet on 127.0.0.1"));
  EXPECT_THAT(job_of({"--event-log-handler", "console", "p"}).notices,
              ElementsAre(HasSubstr("no handler 'console'")));
}

TEST(Parse, RefusesContradictions) {
  EXPECT_THAT(error_of({"-m", "--no-python", "p"}), HasSubstr("exclude each other"));
  EXPECT_THAT(error_of({"-q", "-v", "p"}), HasSubstr("--verbose: it excludes --quiet"));
  EXPECT_EQ(error_of({"--node-rank", "1", "p"}),
            "ddprun: --node-rank: '1' is beyond the last node: there is one, number 0 "
            "(--nnodes 1)");
}

TEST(Parse, RefusesOptionsThatCannotBeHadTogether) {
  const std::string inherited = ": inherited output does not come through ddprun; drop one of them";
  EXPECT_EQ(error_of({"--output=inherit", "-t", "0:0,3:1", "p"}),
            "ddprun: --output inherit and --tee 0:0,3:1" + inherited);
  EXPECT_EQ(error_of({"--output=inherit", "--local-ranks-filter=0", "p"}),
            "ddprun: --output inherit and --local-ranks-filter 0" + inherited);
  EXPECT_EQ(error_of({"--prefix=x", "p"}, {"PET_OUTPUT=inherit"}),
            "ddprun: PET_OUTPUT=inherit and --log-line-prefix-template x" + inherited);
  EXPECT_EQ(error_of({"--output=inherit", "-t", "0", "--prefix=", "-r3", "p"}), "");
  EXPECT_EQ(error_of({"--output=inherit", "p"}, {"TORCHELASTIC_LOG_LINE_PREFIX_TEMPLATE=x"}), "");
  EXPECT_EQ(error_of({"--stdin=2", "-n2", "p"}),
            "ddprun: --stdin 2 and --nproc-per-node 2: there are ranks 0 to 1 only");
  EXPECT_EQ(error_of({"--stdin=1", "-n2", "p"}), "");
  EXPECT_EQ(error_of({"--stdin=7", "-nauto", "p"}), "") << "what auto means is not known here";
  const std::string files = ": they need different files, and only one can be -";
  EXPECT_EQ(error_of({"--report=-", "--events=-", "p"}),
            "ddprun: --report - and --events -" + files);
  EXPECT_EQ(error_of({"--report=a", "p"}, {"PET_EVENTS=a"}),
            "ddprun: --report a and PET_EVENTS=a" + files);
  EXPECT_EQ(error_of({"--report=-", "--events=a", "p"}), "");
}

TEST(Parse, ARangeOfNodesNeedsC10d) {
  EXPECT_EQ(error_of({"--nnodes=1:2", "--rdzv-backend=c10d", "p"}), "");
  EXPECT_EQ(error_of({"--nnodes=1:2", "p"}),
            "ddprun: --nnodes 1:2 and --rdzv-backend: a range needs c10d, static takes one number");
  EXPECT_THAT(error_of({"--rdzv-backend=static", "p"}, {"PET_NNODES=1:3"}),
              HasSubstr("PET_NNODES=1:3 and --rdzv-backend static: a range needs c10d"));
  EXPECT_EQ(error_of({"--nnodes=1:2", "--standalone", "p"}), "");
  EXPECT_EQ(error_of({"--nnodes=1:1", "p"}), "");
}

TEST(Parse, KnownRendezvousKeysAreTakenQuietly) {
  EXPECT_THAT(
      job_of({"--rdzv-conf=timeout=5,is_host=1,join_timeout=9, read_timeout = 3", "p"}).notices,
      IsEmpty());
  EXPECT_EQ(error_of({"--rdzv-conf=join_timeout=3,last_cal_timeout=1", "p"}),
            "ddprun: --rdzv-conf: no rendezvous has the key 'last_cal_timeout'; did you mean "
            "last_call_timeout?");
  EXPECT_EQ(error_of({"--rdzv-conf=last_call=1", "p"}),
            "ddprun: --rdzv-conf: no rendezvous has the key 'last_call'; did you mean "
            "last_call_timeout?");
  // Of a back end that somebody has written for himself.
  EXPECT_THAT(job_of({"--rdzv-conf=overlap_timeout=1,overlap=1", "p"}).notices,
              ElementsAre("--rdzv-conf: no rendezvous has the key 'overlap_timeout', ignored; did "
                          "you mean read_timeout?",
                          "--rdzv-conf: no rendezvous has the key 'overlap', ignored"));
  EXPECT_EQ(error_of({"--rdzv-conf=timeout", "p"}),
            "ddprun: --rdzv-conf: 'timeout' is not KEY=VALUE,...: there is no value for 'timeout'");
  EXPECT_THAT(error_of({"--rdzv-conf=grow=1,", "p"}), HasSubstr("there is no key"));
}

TEST(Parse, ADoctorNeedsNoProgram) {
  EXPECT_TRUE(job_of({"--doctor"}).doctor);
  EXPECT_THAT(job_of({"--doctor"}).command, IsEmpty());
}

}  // namespace
}  // namespace ddprun::cli
