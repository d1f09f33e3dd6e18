// Several nodes: what options, engines and the environment say of them, put together.
#include <gmock/gmock.h>

#include "tests/unit/cli/parsing.h"

namespace ddprun::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

using Kind = RendezvousSpec::Kind;

RendezvousSpec spec_of(Words options, const Words& environment = {}) {
  options.emplace_back("p");
  return job_of(options, environment).rendezvous;
}

std::string endpoint_of(const Words& options, const Words& environment = {}) {
  return text_of(spec_of(options, environment).endpoint.value);
}

Words notices_of(Words options, const Words& environment = {}) {
  options.emplace_back("p");
  return job_of(options, environment).notices;
}

std::string refusal_of(Words options, const Words& environment = {}) {
  options.emplace_back("p");
  return error_of(options, environment);
}

const Words kStatic{"--nnodes=2", "--node-rank=1", "--master-addr=node0"};

Words and_more(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

TEST(Rendezvous, OneNodeMeetsNobody) {
  for (const Words& options : std::vector<Words>{
           {}, {"--nnodes=1"}, {"--nnodes=1:1"}, {"--standalone"}, {"--cluster=none"}}) {
    const RendezvousSpec spec = spec_of(options);
    EXPECT_EQ(spec.kind, Kind::alone);
    EXPECT_FALSE(spec.several_nodes());
    EXPECT_EQ(spec.max_nodes, 1);
    EXPECT_EQ(spec.node_rank->value, 0);
    EXPECT_EQ(spec.run_id_origin, RunIdOrigin::random);
  }
  EXPECT_EQ(spec_of({"--rdzv-id=x"}).run_id_origin, RunIdOrigin::option);
}

TEST(Rendezvous, StaticNodesHaveNumbers) {
  const RendezvousSpec spec = spec_of(and_more(kStatic, {"--master-port=1234", "--rdzv-id=7"}));
  EXPECT_EQ(spec.kind, Kind::fixed);
  EXPECT_EQ(spec.min_nodes, 2);
  EXPECT_EQ(spec.max_nodes, 2);
  EXPECT_EQ(spec.nodes_source, "--nnodes");
  EXPECT_EQ(spec.node_rank->value, 1);
  EXPECT_EQ(spec.node_rank->source, "--node-rank");
  EXPECT_EQ(spec.endpoint.value.host, "node0");
  EXPECT_EQ(spec.endpoint.value.port, 1234);
  EXPECT_EQ(spec.endpoint.source, "--master-addr and --master-port");
  EXPECT_EQ(spec.run_id.value, "7");
  EXPECT_EQ(spec.run_id_origin, RunIdOrigin::option);
  EXPECT_THAT(notices_of(kStatic), IsEmpty());
  EXPECT_EQ(spec_of(kStatic).run_id.value, "none");
  EXPECT_EQ(spec_of(kStatic).run_id_origin, RunIdOrigin::none);
}

TEST(Rendezvous, C10dTakesNodesAsTheyCome) {
  const Words options{"--nnodes=2:4", "--rdzv-backend=c10d", "--rdzv-endpoint=node0"};
  const RendezvousSpec spec = spec_of(options);
  EXPECT_EQ(spec.kind, Kind::by_arrival);
  EXPECT_EQ(spec.min_nodes, 2);
  EXPECT_EQ(spec.max_nodes, 4);
  EXPECT_EQ(spec.node_rank, std::nullopt);
  EXPECT_EQ(spec.endpoint.source, "--rdzv-endpoint");
  EXPECT_THAT(notices_of(options), IsEmpty());
  EXPECT_EQ(spec_of(and_more(options, {"--node-rank=3"})).node_rank->value, 3) << "a wish";
  const Words beyond = and_more(options, {"--node-rank=4"});
  EXPECT_EQ(spec_of(beyond).node_rank, std::nullopt);
  EXPECT_THAT(notices_of(beyond), ElementsAre(HasSubstr("--node-rank 4: there are at most 4")));
  EXPECT_EQ(spec_of({"--nnodes=1:2", "--rdzv-backend=c10d", "--rdzv-endpoint=h"}).kind,
            Kind::by_arrival);
}

TEST(Rendezvous, SeveralEndpointsAreThoseOfSeveralRdzvd) {
  const Words options{"--nnodes=2", "--rdzv-backend=c10d", "--rdzv-endpoint=h1:1,[fd00::1]:2,h3"};
  EXPECT_EQ(endpoints_text(spec_of(options)), "h1:1,[fd00::1]:2,h3:29400");
  EXPECT_EQ(endpoints_text(spec_of(kStatic)), text_of(spec_of(kStatic).endpoint.value));
  EXPECT_EQ(endpoints_text(spec_of({"--nnodes=2", "--node-rank=1", "--rdzv-endpoint=h1:1,h2:2"})),
            "h1:1,h2:2");
  EXPECT_THAT(error_of({"--nnodes=2", "--node-rank=1", "--rdzv-endpoint=h1:1,h2"}),
              HasSubstr("'h2' has no port"));
  EXPECT_THAT(error_of({"--nnodes=2", "--rdzv-backend=c10d", "--rdzv-endpoint=h1,"}),
              HasSubstr("'' is not an address"));
  EXPECT_THAT(error_of({"--nnodes=2", "--rdzv-backend=c10d", "--rdzv-endpoint=h1,h2:0"}),
              HasSubstr("0"));
  EXPECT_THAT(error_of(and_more(options, {"--rdzv-conf=is_host=1"})),
              HasSubstr("'is_host=1': no node hosts the rendezvous where --rdzv-endpoint names "
                        "several rdzvd"));
  EXPECT_EQ(spec_of(and_more(options, {"--rdzv-conf=is_host=0"})).conf.is_host, false);
}

TEST(Rendezvous, ATokenComesFromAFileAndNeverFromTheCommandLine) {
  const auto file = spec_of(and_more(kStatic, {"--token-file=t"})).token_file;
  ASSERT_TRUE(file);
  EXPECT_EQ(file->value, "t");
  EXPECT_EQ(spec_of(kStatic).token_file, std::nullopt);
  EXPECT_THAT(notices_of({"--token-file=t"}),
              ElementsAre(HasSubstr("--token-file: meaningless with one node")));
  for (const Words& given : {Words{"--token=secret"}, Words{"--token", "secret"}}) {
    const std::string refusal = refusal_of(and_more(kStatic, given));
    EXPECT_THAT(refusal, HasSubstr("--token: a command line can be read by everybody"));
    EXPECT_THAT(refusal, HasSubstr("give --token-file FILE"));
    EXPECT_THAT(refusal, Not(HasSubstr("secret")));
  }
}

TEST(Rendezvous, PortsAreTorchruns) {
  EXPECT_EQ(endpoint_of(kStatic), "node0:29500");
  EXPECT_EQ(endpoint_of({"--nnodes=2", "--rdzv-endpoint=h:4"}), "h:4");
  EXPECT_EQ(endpoint_of({"--nnodes=2", "--rdzv-backend=c10d", "--rdzv-endpoint=h"}), "h:29400");
  EXPECT_EQ(endpoint_of({"--nnodes=2", "--rdzv-backend=c10d", "--rdzv-endpoint=[2001:db8::10]:7"}),
            "[2001:db8::10]:7");
  EXPECT_EQ(endpoint_of({"--nnodes=2", "--master-addr=2001:db8::1"}), "[2001:db8::1]:29500");
  EXPECT_EQ(endpoint_of({"--nnodes=2", "--rdzv-backend=c10d", "--master-addr=h"}), "h:29400");
  EXPECT_EQ(refusal_of({"--nnodes=2", "--rdzv-endpoint=h"}),
            "ddprun: --rdzv-endpoint: 'h' has no port; write h:PORT");
  EXPECT_THAT(refusal_of({"--nnodes=2", "--rdzv-endpoint=30000", "--rdzv-backend=c10d"}),
              HasSubstr("'30000' has no host; write localhost:30000"));
  EXPECT_THAT(refusal_of({"--nnodes=2", "--rdzv-endpoint=h:0"}),
              AllOf(HasSubstr("port 0 lets the system choose"), HasSubstr("write h:29500")));
  EXPECT_THAT(
      refusal_of({"--nnodes=2", "--master-port=0"}),
      AllOf(HasSubstr("port 0 lets the system choose"), HasSubstr("write a port, such as 29500")));
}

// What is advised is taken, then.
TEST(Rendezvous, AnEndpointWithASlipIsPutRight) {
  const auto refusal = [](const std::string& endpoint, const char* backend = "c10d") {
    return refusal_of(
        {"--nnodes=2", "--rdzv-backend=" + std::string(backend), "--rdzv-endpoint=" + endpoint});
  };
  const std::string option = "ddprun: --rdzv-endpoint: ";
  EXPECT_EQ(refusal("http://gpu01:29400"),
            option + "'http://gpu01:29400' is a URL; write gpu01:29400");
  EXPECT_EQ(refusal("tcp://[fd00::1]:29400/x?y"),
            option + "'tcp://[fd00::1]:29400/x?y' is a URL; write [fd00::1]:29400");
  EXPECT_EQ(refusal("2001:db8::10:29400"),
            option +
                "'2001:db8::10:29400' is an IPv6 address without its brackets; write "
                "[2001:db8::10]:29400");
  EXPECT_EQ(endpoint_of({"--nnodes=2", "--rdzv-backend=c10d", "--rdzv-endpoint=2001:db8::10"}),
            "[2001:db8::10]:29400");
  for (const char* without : {"2001:db8::10", "[2001:db8::10]"})
    EXPECT_EQ(refusal(without, "static"),
              option + "'2001:db8::10' has no port; write [2001:db8::10]:PORT");
  for (const char* port : {"gpu01:", "gpu01:x", "gpu01:70000"})
    EXPECT_THAT(refusal(port), HasSubstr("is not a port; write gpu01:PORT, from 1 to 65535"));
  EXPECT_EQ(refusal_of({"--nnodes=2", "--master-addr=http://gpu01:29500"}),
            "ddprun: --master-addr: 'http://gpu01:29500' is a URL; write --master-addr gpu01 "
            "--master-port 29500");
  EXPECT_EQ(refusal_of({"--nnodes=2", "--master-addr=http://gpu01"}),
            "ddprun: --master-addr: 'http://gpu01' is a URL; write --master-addr gpu01");
  EXPECT_EQ(refusal_of({"--nnodes=2", "--master-addr=gpu01:29500"}),
            "ddprun: --master-addr: 'gpu01:29500' has a port in it; write --master-addr gpu01 "
            "--master-port 29500");
  for (const char* nonsense : {"http:127.0.0.1", "http://", "gpu01:x"})
    EXPECT_EQ(refusal_of({"--nnodes=2", "--master-addr=" + std::string(nonsense)}),
              "ddprun: --master-addr: '" + std::string(nonsense) +
                  "' is not a host; write a name or an address");
  EXPECT_THAT(refusal_of({"--nnodes=2", "--master-addr=a:b:c"}), HasSubstr("is not a host"));
}

TEST(Rendezvous, WhatTheEndpointMakesMeaninglessIsSaid) {
  EXPECT_THAT(notices_of({"--nnodes=2", "--node-rank=0", "--rdzv-endpoint=h:1", "--master-addr=x",
                          "--master-port=99999"}),
              ElementsAre("--master-addr, --master-port: meaningless with --rdzv-endpoint, "
                          "ignored"));
}

TEST(Rendezvous, TheEnvironmentHelpsWhereNoOptionDoes) {
  const Words environment{"MASTER_ADDR=node0", "MASTER_PORT=7", "NODE_RANK=1", "RANK=5"};
  const RendezvousSpec spec = spec_of({"--nnodes=2"}, environment);
  EXPECT_EQ(text_of(spec.endpoint.value), "node0:7");
  EXPECT_EQ(spec.endpoint.source, "MASTER_ADDR and MASTER_PORT");
  EXPECT_EQ(spec.node_rank->value, 1);
  EXPECT_THAT(notices_of({"--nnodes=2"}, environment),
              ElementsAre("MASTER_ADDR=node0, MASTER_PORT=7 and NODE_RANK=1 of the environment are "
                          "used, because no option says it"));
  EXPECT_EQ(endpoint_of(kStatic, environment), "node0:29500") << "its port is another address's";
  EXPECT_EQ(endpoint_of({"--nnodes=2", "--rdzv-endpoint=h:1"}, environment), "h:1");
  EXPECT_EQ(spec_of(kStatic, {"NODE_RANK=0"}).node_rank->value, 1);
  EXPECT_EQ(spec_of({"--nnodes=2", "--rdzv-backend=c10d"}, environment).node_rank, std::nullopt);
  EXPECT_EQ(endpoint_of({"--nnodes=2"}, {"MASTER_ADDR="}), "127.0.0.1:29500") << "empty is unset";
  EXPECT_THAT(refusal_of({"--nnodes=2"}, {"MASTER_ADDR=a b"}), HasSubstr("MASTER_ADDR: 'a b'"));
  EXPECT_THAT(refusal_of({"--nnodes=2"}, {"MASTER_PORT=x"}), HasSubstr("MASTER_PORT: 'x'"));
  EXPECT_THAT(refusal_of({"--nnodes=2"}, {"NODE_RANK=x"}), HasSubstr("NODE_RANK: 'x'"));
  EXPECT_THAT(refusal_of({"--nnodes=2"}, {"NODE_RANK=2"}),
              HasSubstr("NODE_RANK: '2' is beyond the last node"));
  // One node has no use for them.
  const JobSpec one = job_of({"p"}, environment);
  EXPECT_EQ(one.master_addr, std::nullopt);
  EXPECT_THAT(one.notices, IsEmpty());
}

TEST(Rendezvous, SaysWhatOtherHostsCannotReach) {
  EXPECT_THAT(notices_of({"--nnodes=2", "--node-rank=0"}),
              ElementsAre("no address was given, so the nodes meet at 127.0.0.1:29500, which other "
                          "hosts cannot reach; write --master-addr HOST if there are others"));
  EXPECT_THAT(notices_of({"--nnodes=2", "--rdzv-backend=c10d", "--rdzv-endpoint=localhost"}),
              ElementsAre("--rdzv-endpoint: other hosts cannot reach localhost:29400, so all nodes "
                          "have to be on this one"));
}

TEST(Rendezvous, ANumberThatIsNotGivenIsNodeZero) {
  const Words options{"--nnodes=2", "--master-addr=h"};
  EXPECT_EQ(spec_of(options).node_rank->value, 0);
  EXPECT_THAT(notices_of(options),
              ElementsAre("neither --node-rank nor NODE_RANK is given, so this is node 0 of 2"));
  EXPECT_EQ(refusal_of(and_more(options, {"--node-rank=2"})),
            "ddprun: --node-rank: '2' is beyond the last node: there are 2, numbers 0 to 1");
}

TEST(Rendezvous, StandaloneIsOneNode) {
  EXPECT_EQ(refusal_of({"--standalone", "--nnodes=2"}),
            "ddprun: --standalone and --nnodes 2: standalone is one node; drop one of them");
  EXPECT_THAT(notices_of({"--standalone", "--cluster=slurm"}),
              ElementsAre("--cluster: meaningless with --standalone, ignored"));
}

TEST(Rendezvous, ConfIsRead) {
  const auto conf = [](const std::string& text) {
    return spec_of(and_more(kStatic, {"--rdzv-conf=" + text})).conf;
  };
  EXPECT_EQ(conf("read_timeout=1").join_timeout, seconds(600));
  EXPECT_EQ(conf("timeout=5").join_timeout, seconds(5));
  EXPECT_EQ(conf("join_timeout=9,timeout=5").join_timeout, seconds(9));
  EXPECT_EQ(conf("timeout=5, join_timeout = 9").join_timeout, seconds(9));
  EXPECT_EQ(conf("last_call_timeout=0").last_call_timeout, seconds(0));
  EXPECT_EQ(conf("keep_alive_interval=.5").keep_alive_interval, milliseconds(500));
  EXPECT_EQ(conf("keep_alive_max_attempt=7").keep_alive_max_attempt, 7);
  EXPECT_EQ(conf("reconnect_timeout=2").reconnect_timeout, seconds(2));
  EXPECT_EQ(conf("read_timeout=3").read_timeout, seconds(3));
  EXPECT_FALSE(conf("grow=off").grow);
  EXPECT_EQ(conf("timeout=5").is_host, std::nullopt);
  for (const char* yes : {"1", "true", "True", "t", "yes", "Y"})
    EXPECT_EQ(conf(std::string("is_host=") + yes).is_host, true) << yes;
  for (const char* no : {"0", "false", "F", "no", "n"})
    EXPECT_EQ(conf(std::string("is_host=") + no).is_host, false) << no;
  EXPECT_THAT(refusal_of({"--rdzv-conf=is_host=maybe"}), HasSubstr("is_host=maybe is neither"));
  EXPECT_THAT(refusal_of({"--rdzv-conf=join_timeout=0"}), HasSubstr("leaves no time"));
  EXPECT_THAT(notices_of(and_more(kStatic, {"--rdzv-conf=close_timeout=5,protocol=http"})),
              ElementsAre("--rdzv-conf: ddprun needs no close_timeout, protocol, ignored"));
  EXPECT_THAT(refusal_of(and_more(kStatic, {"--rdzv-conf=store_type=file"})),
              HasSubstr("nodes meet over TCP only"));
  EXPECT_THAT(refusal_of(and_more(kStatic, {"--rdzv-conf=last_cal_timeout=5"})),
              HasSubstr("did you mean last_call_timeout?"));
}

TEST(Rendezvous, ConfMayBeGivenInSeveralParts) {
  const auto conf =
      spec_of(and_more(kStatic, {"--rdzv-conf=join_timeout=9,read_timeout=1",
                                 "--rdzv-conf=read_timeout=2,timeout=5", "--rdzv-conf=grow=0"}))
          .conf;
  EXPECT_EQ(conf.join_timeout, seconds(9));
  EXPECT_EQ(conf.read_timeout, seconds(2));
  EXPECT_FALSE(conf.grow);
  EXPECT_THAT(notices_of(and_more(kStatic, {"--rdzv-conf=overlap=1", "--rdzv-conf=grow=0"})),
              ElementsAre("--rdzv-conf: no rendezvous has the key 'overlap', ignored"));
  EXPECT_THAT(notices_of({"--standalone", "--rdzv-conf=grow=0", "--rdzv-conf=timeout=5"}),
              ElementsAre("--rdzv-conf: meaningless with --standalone, ignored"));
}

TEST(Rendezvous, ANodeMaySayWhichAddressItHas) {
  EXPECT_EQ(spec_of(and_more(kStatic, {"--local-addr=[2001:db8::5]"})).local_addr->value,
            "2001:db8::5");
  EXPECT_THAT(notices_of({"--local-addr=h"}),
              ElementsAre("--local-addr: meaningless with one node, ignored"));
}

// ---- engines ----

const Words kSlurm{"SLURM_JOB_ID=77",        "SLURM_STEP_ID=0", "SLURM_STEP_NUM_NODES=2",
                   "SLURM_STEP_NUM_TASKS=2", "SLURM_NODEID=1",  "SLURM_STEP_NODELIST=gpu[01-02]",
                   "SLURM_GPUS_ON_NODE=4"};

TEST(Engines, SlurmSaysItAll) {
  const RendezvousSpec spec = spec_of({"--cluster=slurm"}, kSlurm);
  EXPECT_EQ(spec.kind, Kind::fixed);
  EXPECT_EQ(spec.engine, cluster::Engine::slurm);
  EXPECT_EQ(spec.max_nodes, 2);
  EXPECT_EQ(spec.node_rank->value, 1);
  EXPECT_EQ(text_of(spec.endpoint.value), "gpu01:12616");
  EXPECT_EQ(spec.run_id.value, "77");
  EXPECT_EQ(spec.run_id_origin, RunIdOrigin::scheduler);
  EXPECT_THAT(spec.hosts, ElementsAre("gpu01", "gpu02"));
}

TEST(Engines, OptionsCountMoreWhereThereIsAChoice) {
  const Words options{"--cluster=slurm", "--rdzv-endpoint=rdzv:1", "--rdzv-id=x"};
  EXPECT_EQ(endpoint_of(options, kSlurm), "rdzv:1");
  EXPECT_EQ(spec_of(options, kSlurm).run_id.value, "x");
  EXPECT_EQ(endpoint_of({"--cluster=slurm", "--master-port=9"}, kSlurm), "gpu01:9");
  EXPECT_EQ(refusal_of({"--cluster=slurm", "--nnodes=2", "--node-rank=1"}, kSlurm), "");
}

TEST(Engines, ShowBothValuesOfAContradiction) {
  EXPECT_EQ(refusal_of({"--cluster=slurm", "--nnodes=3"}, kSlurm),
            "ddprun: --nnodes 3 and SLURM_STEP_NUM_NODES=2 contradict each other; leave --nnodes 3 "
            "out, or --cluster");
  EXPECT_THAT(refusal_of({"--cluster=slurm"}, and_more(kSlurm, {"PET_NODE_RANK=0"})),
              HasSubstr("PET_NODE_RANK=0 and SLURM_NODEID=1 contradict each other"));
  EXPECT_THAT(refusal_of({"--cluster=slurm", "-n8"}, kSlurm),
              HasSubstr("--nproc-per-node 8 and SLURM_GPUS_ON_NODE=4: this job has fewer GPUs"));
  EXPECT_EQ(refusal_of({"--cluster=slurm", "-n8", "--oversubscribe"}, kSlurm), "");
  EXPECT_EQ(refusal_of({"--cluster=slurm", "-n8", "--device=cpu"}, kSlurm), "");
  const Words c10d{"--cluster=slurm", "--rdzv-backend=c10d"};
  EXPECT_EQ(refusal_of(and_more(c10d, {"--nnodes=1:2"}), kSlurm), "");
  EXPECT_EQ(refusal_of(and_more(c10d, {"--nnodes=2:4"}), kSlurm), "");
  EXPECT_THAT(refusal_of(and_more(c10d, {"--nnodes=3:4"}), kSlurm), HasSubstr("--nnodes 3:4 and"));
  EXPECT_THAT(refusal_of(and_more(c10d, {"--nnodes=1"}), kSlurm), HasSubstr("--nnodes 1 and"));
}

TEST(Engines, ThatAreNotThereAreNamedWithTheOption) {
  EXPECT_THAT(refusal_of({"--cluster=slurm"}), HasSubstr("--cluster slurm: SLURM_JOB_ID is not"));
  EXPECT_THAT(refusal_of({}, {"PET_CLUSTER=kubernetes"}),
              HasSubstr("PET_CLUSTER=kubernetes: JOB_COMPLETION_INDEX is not set"));
  EXPECT_THAT(refusal_of({"--cluster=mpi"}), HasSubstr("--cluster mpi: none of OMPI_COMM_WORLD"));
}

TEST(Engines, CountMoreThanWhatIsOnlyInTheEnvironment) {
  const Words exported = and_more(kSlurm, {"MASTER_ADDR=x", "MASTER_PORT=1", "NODE_RANK=0"});
  EXPECT_EQ(endpoint_of({"--cluster=slurm"}, exported), "gpu01:12616");
  EXPECT_EQ(spec_of({"--cluster=slurm"}, exported).node_rank->value, 1);
  EXPECT_THAT(notices_of({"--cluster=slurm"}, exported),
              Contains("MASTER_ADDR=x of the environment is not used, but gpu01 of --cluster "
                       "slurm; write --master-addr x if it is meant"));
}

TEST(Engines, GiveTheNumberOfWorkersWhereNobodySaysWhichGpus) {
  EXPECT_EQ(job_of({"--cluster=slurm", "p"}, kSlurm).workers.number, 4);
  EXPECT_EQ(job_of({"--cluster=slurm", "-n2", "p"}, kSlurm).workers.number, 2);
  EXPECT_EQ(
      job_of({"--cluster=slurm", "p"}, and_more(kSlurm, {"CUDA_VISIBLE_DEVICES=0"})).workers.kind,
      WorkerCount::Kind::unset);
  EXPECT_EQ(job_of({"--cluster=slurm", "--device=cpu", "p"}, kSlurm).workers.kind,
            WorkerCount::Kind::unset);
}

TEST(Engines, ASlurmThatNobodyAskedForIsAHintAtMost) {
  const JobSpec job = job_of({"p"}, kSlurm);
  EXPECT_EQ(job.rendezvous.kind, Kind::alone);
  EXPECT_EQ(job.run_id, std::nullopt);
  EXPECT_EQ(job.workers.kind, WorkerCount::Kind::unset);
  EXPECT_THAT(job.notices, ElementsAre(HasSubstr("--cluster slurm makes one job of them")));
  EXPECT_THAT(notices_of({"--nnodes=1"}, kSlurm), IsEmpty());
  EXPECT_THAT(notices_of({"--standalone"}, kSlurm), IsEmpty());
  EXPECT_THAT(notices_of({"--cluster=none"}, kSlurm), IsEmpty());
}

TEST(Engines, OneNodeOfSlurmIsNamedByItsJob) {
  const Words one{"SLURM_JOB_ID=5", "SLURM_JOB_NUM_NODES=1", "SLURM_JOB_NODELIST=n7"};
  const JobSpec job = job_of({"--cluster=slurm", "p"}, one);
  EXPECT_EQ(job.rendezvous.kind, Kind::alone);
  EXPECT_EQ(job.run_id, "5");
  EXPECT_EQ(job.master_port, std::nullopt) << "a free one";
}

TEST(Engines, APodNeedsTheNumberOfNodes) {
  const Words pod{"JOB_COMPLETION_INDEX=1", "HOSTNAME=train-1"};
  const Words options{"--cluster=kubernetes", "--nnodes=2"};
  EXPECT_THAT(refusal_of({"--cluster=kubernetes"}, pod), HasSubstr("give --nnodes"));
  EXPECT_EQ(endpoint_of(options, pod), "train-0.train:29500");
  EXPECT_EQ(endpoint_of(options, and_more(pod, {"MASTER_ADDR=train-0.svc"})), "train-0.svc:29500");
  EXPECT_THAT(refusal_of(options, {"JOB_COMPLETION_INDEX=1", "HOSTNAME=other"}),
              HasSubstr("it is not known where the nodes can meet; give --master-addr"));
  const Words other{"JOB_COMPLETION_INDEX=1", "HOSTNAME=set-node-1-1", "JOBSET_NAME=set",
                    "MASTER_ADDR=h"};
  EXPECT_THAT(refusal_of(options, other), HasSubstr("it is not known which node this is"));
  EXPECT_EQ(refusal_of(and_more(options, {"--node-rank=1"}), other), "");
}

// What Kubeflow's Trainer sets in each pod; its first worker is <job>-node-0-0 of service <job>.
TEST(Engines, KubeflowsVariablesAreOptions) {
  const Words trainer{"PET_NNODES=2",          "PET_NPROC_PER_NODE=auto",
                      "PET_NODE_RANK=1",       "PET_MASTER_ADDR=llama-node-0-0.llama",
                      "PET_MASTER_PORT=29400", "JOB_COMPLETION_INDEX=1"};
  const RendezvousSpec spec = spec_of({}, trainer);
  EXPECT_EQ(spec.kind, Kind::fixed);
  EXPECT_EQ(spec.node_rank->value, 1);
  EXPECT_EQ(spec.node_rank->source, "PET_NODE_RANK");
  EXPECT_EQ(text_of(spec.endpoint.value), "llama-node-0-0.llama:29400");
  EXPECT_THAT(notices_of({}, trainer), IsEmpty());
  const Words elastic{"PET_NNODES=1:3",      "PET_RDZV_BACKEND=c10d",
                      "PET_RDZV_ID=job",     "PET_RDZV_ENDPOINT=job-worker-0:23456",
                      "PET_MAX_RESTARTS=10", "PET_RDZV_CONF=last_call_timeout=60",
                      "PET_NPROC_PER_NODE=1"};
  const RendezvousSpec by_arrival = spec_of({}, elastic);
  EXPECT_EQ(by_arrival.kind, Kind::by_arrival);
  EXPECT_EQ(by_arrival.max_nodes, 3);
  EXPECT_EQ(by_arrival.conf.last_call_timeout, seconds(60));
  EXPECT_EQ(by_arrival.run_id.source, "PET_RDZV_ID");
}

TEST(Engines, MpiNeedsAnEndpoint) {
  const Words task{"OMPI_COMM_WORLD_RANK=1", "OMPI_COMM_WORLD_SIZE=2",
                   "OMPI_COMM_WORLD_LOCAL_SIZE=1"};
  EXPECT_THAT(refusal_of({"--cluster=mpi"}, task), HasSubstr("give --rdzv-endpoint HOST:PORT"));
  const Words options{"--cluster=mpi", "--rdzv-endpoint=h:1"};
  EXPECT_EQ(spec_of(options, task).node_rank->value, 1);
  EXPECT_EQ(endpoint_of({"--cluster=mpi"}, and_more(task, {"MASTER_ADDR=h"})), "h:29500");
  EXPECT_THAT(refusal_of(options, {"PMIX_RANK=1"}), HasSubstr("give --nnodes"));
  EXPECT_EQ(refusal_of(and_more(options, {"--nnodes=2"}), {"PMIX_RANK=1"}), "");
}

TEST(Engines, SeveralLaunchersOnAHostAreASlipUnlessTheirWorkersAreCounted) {
  const Words tasks{"OMPI_COMM_WORLD_RANK=1", "OMPI_COMM_WORLD_SIZE=8",
                    "OMPI_COMM_WORLD_LOCAL_SIZE=4", "MASTER_ADDR=h"};
  EXPECT_THAT(refusal_of({"--cluster=mpi"}, tasks),
              HasSubstr("--cluster mpi and OMPI_COMM_WORLD_LOCAL_SIZE=4: one ddprun on each host"));
  EXPECT_THAT(notices_of({"--cluster=mpi", "-n1"}, tasks),
              Contains(HasSubstr("4 ddpruns are on this host (OMPI_COMM_WORLD_LOCAL_SIZE=4); each "
                                 "counts as a node")));
}

}  // namespace
}  // namespace ddprun::cli
