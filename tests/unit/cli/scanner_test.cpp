// Where ddprun's options end, how they may be written, and which names are understood.
#include <gmock/gmock.h>

#include "tests/unit/cli/parsing.h"

namespace ddprun::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(Scanner, TakesBothSpellingsAndBothForms) {
  for (const Words& words :
       {Words{"--nproc-per-node", "4", "p"}, Words{"--nproc_per_node", "4", "p"},
        Words{"--nproc-per-node=4", "p"}, Words{"--nproc_per_node=4", "p"}, Words{"-n", "4", "p"},
        Words{"-n4", "p"}, Words{"-n=4", "p"}}) {
    const JobSpec job = job_of(words);
    EXPECT_EQ(job.workers.kind, WorkerCount::Kind::number) << words[0];
    EXPECT_EQ(job.workers.number, 4) << words[0];
    EXPECT_EQ(job.command, Words{"p"}) << words[0];
  }
}

TEST(Scanner, LastOneWins) {
  EXPECT_EQ(job_of({"-n", "4", "--nproc-per-node=2", "p"}).workers.number, 2);
  EXPECT_EQ(job_of({"-n", "x", "-n", "3", "p"}).workers.number, 3);
}

TEST(Scanner, LeavesTheProgramsWordsAlone) {
  const Words command{"p", "--help", "-9", "",          "--", "a$$b", "${rank}",  "--nnodes",
                      "9", "-n",     "x",  "--version", "-h", "--",   "\xff\x01", "--no_such"};
  Words words{"-n", "2"};
  words.insert(words.end(), command.begin(), command.end());
  const JobSpec job = job_of(words);
  EXPECT_EQ(job.command, command);
  EXPECT_FALSE(job.separator_before_program);
}

TEST(Scanner, SeparatorEndsTheOptions) {
  const JobSpec job = job_of({"-n", "2", "--", "--odd-name", "--", "-n", "3"});
  EXPECT_EQ(job.command, (Words{"--odd-name", "--", "-n", "3"}));
  EXPECT_TRUE(job.separator_before_program);
  EXPECT_EQ(job.workers.number, 2);
}

TEST(Scanner, ALoneDashIsTheProgram) {
  EXPECT_EQ(job_of({"-"}).command, Words{"-"});
}

TEST(Scanner, UnderscoresOfAValueStay) {
  EXPECT_EQ(job_of({"--role", "a_b", "p"}).role, "a_b");
}

TEST(Scanner, TakesOnlyTheAbbreviationsOfTorchrun) {
  EXPECT_EQ(error_of({"--nnode=1", "p"}), "");
  EXPECT_EQ(error_of({"--redirect", "0", "p"}), "");
  EXPECT_TRUE(job_of({"--stand", "p"}).standalone);
  EXPECT_EQ(job_of({"--master_p=4000", "p"}).master_port, 4000);
  EXPECT_EQ(job_of({"--nproc_per", "3", "p"}).workers.number, 3);
}

TEST(Scanner, NamesTheCandidatesOfAnAbbreviation) {
  EXPECT_EQ(error_of({"--nproc", "2", "p"}),
            "ddprun: --nproc is an abbreviation; write --nproc-per-node in full");
  EXPECT_EQ(error_of({"--start", "2", "p"}),
            "ddprun: --start is an abbreviation; write --start-method in full");
  EXPECT_EQ(error_of({"--mo", "0.9", "p"}),
            "ddprun: --mo is an abbreviation of more than one option; write --module or "
            "--monitor-interval in full");
  // Options that torchrun does not have cannot be abbreviated.
  EXPECT_EQ(error_of({"--simul=2", "p"}),
            "ddprun: unknown option --simul; did you mean --simulate-gpus?");
}

TEST(Scanner, NamesTheNearestOption) {
  EXPECT_EQ(error_of({"--proc_per_node", "2", "p"}),
            "ddprun: unknown option --proc_per_node; did you mean --nproc-per-node?");
  EXPECT_EQ(error_of({"--rdzc_backend=c10d", "p"}),
            "ddprun: unknown option --rdzc_backend; did you mean --rdzv-backend?");
  EXPECT_EQ(error_of({"--dryrun", "p"}),
            "ddprun: unknown option --dryrun; did you mean --dry-run?");
  EXPECT_EQ(error_of({"--learning-rate", "1", "p"}),
            "ddprun: unknown option --learning-rate; options of the program go behind its name, "
            "ddprun's are in ddprun --help");
  EXPECT_THAT(error_of({"-9", "p"}), HasSubstr("unknown option -9;"));
  EXPECT_THAT(error_of({"-vz", "p"}),
              HasSubstr("unknown option -vz; -v (--verbose) takes no value"));
  EXPECT_EQ(error_of({"-np", "2", "p"}),
            "ddprun: unknown option -np; write -n or --nproc-per-node, the number on each host, or "
            "--hosts a:8,b:8");
}

TEST(Scanner, SaysWhatToWriteForNamesOfMpirun) {
  for (const char* word : {"-N", "-N2", "-npernode", "--ppn=4", "-perhost"})
    EXPECT_THAT(error_of({word, "2", "p"}),
                AllOf(HasSubstr("unknown option " + std::string(word) + "; write -n"),
                      HasSubstr("the number on each host")));
  for (const char* word : {"-H", "-host", "-hosts"})
    EXPECT_EQ(error_of({word, "a,b", "p"}),
              "ddprun: unknown option " + std::string(word) + "; write --hosts a:8,b:8");
  for (const char* word : {"-f", "-hostfile", "-machinefile", "--machinefile=hosts"})
    EXPECT_THAT(error_of({word, "hosts", "p"}), HasSubstr("; write --hostfile FILE"));
  EXPECT_THAT(error_of({"-genv", "A", "1", "p"}), HasSubstr("; write -x NAME=VALUE"));
  EXPECT_EQ(job_of({"-n", "2", "p", "-N", "2"}).command, (Words{"p", "-N", "2"}));
}

TEST(Scanner, TakesSeveralLettersBehindOneDash) {
  const JobSpec job = job_of({"-mt3", "pkg.train", "-mt3"});
  EXPECT_TRUE(job.module);
  EXPECT_TRUE(job.tee.of(0).out);
  EXPECT_EQ(job.command, (Words{"pkg.train", "-mt3"}));
  EXPECT_EQ(job_of({"-mn", "4", "p"}).workers.number, 4);
  EXPECT_EQ(job_of({"-mn=4", "p"}).workers.number, 4);
  EXPECT_THAT(error_of({"-m=1", "p"}), HasSubstr("takes no value"));
  EXPECT_THAT(error_of({"-mt"}), HasSubstr("--tee: its value is missing"));
}

TEST(Scanner, SaysThatAValueIsMissing) {
  EXPECT_EQ(
      error_of({"--nproc-per-node"}),
      "ddprun: --nproc-per-node: its value is missing; write --nproc-per-node N|auto|gpu|cpu");
  EXPECT_EQ(error_of({"--role", "--standalone", "p"}),
            "ddprun: --role: its value is missing before '--standalone'; write --role NAME, or "
            "--role=--standalone if that is meant");
  EXPECT_EQ(error_of({"--log-dir", "-n", "4", "p"}),
            "ddprun: --log-dir: its value is missing before '-n'; write --log-dir DIR, or "
            "--log-dir=-n if that is meant");
  EXPECT_EQ(job_of({"--role", "-y", "p"}).role, "-y");
  EXPECT_EQ(job_of({"--role=-x", "p"}).role, "-x");
  EXPECT_EQ(error_of({"--standalone=1", "p"}),
            "ddprun: --standalone takes no value, but '1' was given");
}

TEST(Scanner, NamesWordsThatAreGluedTogether) {
  EXPECT_EQ(error_of({"--nnodes=1:3--nproc_per_node=2--rdzv_id=1train.py"}),
            "ddprun: --nnodes: '1:3--nproc_per_node=2--rdzv_id=1train.py' is more than one word "
            "glued together: put a blank before '--nproc_per_node'");
  EXPECT_EQ(error_of({"--standalone--nnodes=1", "p"}),
            "ddprun: '--standalone--nnodes' is more than one word glued together: put a blank "
            "before '--nnodes'");
  EXPECT_EQ(error_of({"--nproc_per_node 2", "p"}),
            "ddprun: '--nproc_per_node 2' is one word; take away the quotes around it");
}

TEST(Scanner, KnowsSlipsWhereTheProgramShouldStand) {
  for (const char* word : {"–nproc_per_node=2", "—nnodes", "−n", "‐n"})
    EXPECT_EQ(error_of({"-n", "2", word, "p"}),
              "ddprun: '" + std::string(word) +
                  "' begins with a typographic dash, not with '-'; write '--' in its place");
  for (const char* word : {" ", "\\", " --nnodes=1"})
    EXPECT_THAT(error_of({"-n", "2", word, "p"}),
                HasSubstr("' stands where the program should: nothing may follow the '\\'"));
  EXPECT_EQ(
      error_of({"train.py\r"}),
      "ddprun: 'train.py\\r' ends with a carriage return: save the script with Unix line ends");
  EXPECT_EQ(job_of({"--", "–odd"}).command, Words{"–odd"});
  EXPECT_EQ(job_of({"‘quoted’"}).command, Words{"‘quoted’"});
}

TEST(Scanner, AMessageIsOneLineWhateverTheValue) {
  EXPECT_THAT(error_of({"--nnodes", "x\ny\x1b", "p"}), HasSubstr("'x\\ny\\x1b' is not"));
  EXPECT_THAT(job_of({"--master-addr=a", "--event-log-handler=x\ny", "p"}).notices,
              testing::Contains(HasSubstr("'x\\ny'")));
}

TEST(Scanner, NeedsAProgram) {
  const std::string text =
      "ddprun: no program was given; write ddprun [options] PROGRAM [arguments...], see ddprun "
      "--help";
  EXPECT_EQ(error_of({}), text);
  EXPECT_EQ(error_of({"-n", "2"}), text);
  EXPECT_EQ(error_of({"-n", "2", "--"}), text);
  EXPECT_EQ(error_of({"-n", "2", ""}), "ddprun: the name of the program is empty ('')");
}

}  // namespace
}  // namespace ddprun::cli
