// Output with files: redirects, tee, attempts, filters, and what happens when files or consoles
// fail.
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <optional>

#include "launcher/output/output.h"
#include "rendezvous/base/read_file.h"
#include "tests/unit/output/descriptors.h"
#include "tests/unit/output/folder.h"

namespace ddprun::output {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr cli::Streams kBoth{.out = true, .err = true};

class RoutingTest : public FolderTest {
 protected:
  void start(int workers) {
    options_.local_workers = options_.world_size = workers;
    options_.stdout_fd = out_.write_end.get();
    options_.stderr_fd = err_.write_end.get();
    output_.emplace(io_, options_);
    for (int rank = 0; rank < workers; ++rank) workers_.push_back(open(rank));
  }
  std::string directory(int rank, int attempt = 0) const {
    return folder_ + "/attempt_" + std::to_string(attempt) + "/" + std::to_string(rank);
  }
  WorkerStreams open(int rank, int attempt = 0) {
    fs::create_directories(directory(rank, attempt));
    return std::move(output_
                         ->open({.rank = rank,
                                 .local_rank = rank,
                                 .attempt = attempt,
                                 .directory = directory(rank, attempt)})
                         .value());
  }
  std::string file(const std::string& name) const {
    return read_file(folder_ + "/" + name).value_or("(missing)");
  }
  int out(int rank) { return workers_.at(static_cast<std::size_t>(rank)).out.get(); }
  std::string shown() { return read_available(out_.read_end.get()); }
  std::string shown_err() { return read_available(err_.read_end.get()); }
  void end_all() {
    workers_.clear();
    run_until(io_, [&] { return output_->open_streams() == 0; });
    output_->stop_reading();
    poll_now(io_);
  }

  boost::asio::io_context io_{1};
  Channel out_ = pipe_to_us();
  Channel err_ = pipe_to_us();
  Options options_;
  std::optional<Output> output_;
  std::vector<WorkerStreams> workers_;
};

TEST_F(RoutingTest, ARedirectedWorkerWritesItsFileItselfAndItsTailIsThere) {
  options_.routing.redirects.ranges = {{{1, 1}, kBoth}};
  start(2);
  EXPECT_EQ(output_->open_streams(), 2);
  struct stat ours {
  }, theirs{};
  ASSERT_EQ(::fstat(out(1), &ours), 0);
  ASSERT_EQ(::stat((directory(1) + "/stdout.log").c_str(), &theirs), 0);
  EXPECT_EQ(ours.st_ino, theirs.st_ino);
  write_all(out(1), "one\ntwo");
  write_all(out(0), "zero\n");
  end_all();
  EXPECT_EQ(file("attempt_0/1/stdout.log"), "one\ntwo");
  EXPECT_EQ(shown(), "zero\n");
  EXPECT_THAT(output_->tail_stdout(1), ElementsAre("one", "two"));
  EXPECT_FALSE(fs::exists(directory(0) + "/stdout.log"));
}

TEST_F(RoutingTest, TeeWritesExactBytesAndShowsWholePrefixedLines) {
  options_.routing.tee.others = kBoth;
  start(2);
  write_all(out(0), "A\xff");
  poll_now(io_);
  write_all(out(1), "B\n");
  poll_now(io_);
  write_all(out(0), "1\nlast");
  end_all();
  EXPECT_EQ(file("attempt_0/0/stdout.log"),
            "A\xff"
            "1\nlast");
  EXPECT_EQ(file("attempt_0/1/stdout.log"), "B\n");
  EXPECT_EQ(shown(),
            "[1] B\n[0] A\xff"
            "1\n[0] last\n");
  EXPECT_THAT(output_->tail_stdout(0), ElementsAre("A\xff"
                                                   "1",
                                                   "last"));
}

TEST_F(RoutingTest, EachAttemptHasItsOwnFiles) {
  options_.routing.tee.others = kBoth;
  options_.stdout_filters = {"keep"};
  start(1);
  write_all(out(0), "keep first\n");
  workers_[0] = open(0, 1);
  write_all(out(0), "keep second\n");
  end_all();
  EXPECT_EQ(file("attempt_0/0/stdout.log"), "keep first\n");
  EXPECT_EQ(file("attempt_1/0/stdout.log"), "keep second\n");
  EXPECT_EQ(file("attempt_0/filtered_stdout.log"), "[0] keep first\n");
  EXPECT_EQ(file("attempt_1/filtered_stdout.log"), "[0] keep second\n");
  EXPECT_FALSE(fs::exists(folder_ + "/attempt_0/filtered_stderr.log"));
}

TEST_F(RoutingTest, ARankThatIsNotShownHasItsFileAndItsTail) {
  options_.routing.console_ranks = cli::RankSet{{{0, 0}}};
  options_.routing.tee.ranges = {{{2, 2}, kBoth}};
  options_.prefix = "";
  start(3);
  for (int rank : {0, 1, 2}) write_all(out(rank), "rank " + std::to_string(rank) + "\n");
  end_all();
  EXPECT_EQ(shown(), "rank 0\n");
  EXPECT_EQ(file("attempt_0/2/stdout.log"), "rank 2\n");
  EXPECT_THAT(output_->tail_stdout(1), ElementsAre("rank 1"));
  EXPECT_THAT(output_->tail_stdout(2), ElementsAre("rank 2"));
}

TEST_F(RoutingTest, ATemplateIsUsedAlsoByTheOnlyWorkerInAPipe) {
  options_.prefix = "${hostname}/${role_name}/${rank}/${stream}: ";
  options_.hostname = "gpu07";
  options_.role_name = "trainer";
  options_.color = cli::ColorChoice::always;
  start(1);
  write_all(out(0), "x\n");
  end_all();
  EXPECT_EQ(shown(), "\x1b[36mgpu07/trainer/0/stdout:\x1b[0m x\n");
}

TEST_F(RoutingTest, InheritHandsOnWhatWeHave) {
  options_.routing.mode = cli::OutputMode::inherit;
  start(2);
  EXPECT_EQ(output_->open_streams(), 0);
  write_all(out(1), "half a li");
  EXPECT_EQ(shown(), "half a li");
  EXPECT_THAT(output_->tail_stdout(1), IsEmpty());
}

TEST_F(RoutingTest, PtyAndPipeAreMadeWhereverOurOwnStreamLeads) {
  options_.routing.mode = cli::OutputMode::pty;
  start(1);
  EXPECT_TRUE(::isatty(out(0)));
  write_all(out(0), "x\n");
  end_all();
  EXPECT_EQ(shown(), "x\n");
}

TEST_F(RoutingTest, AFileThatCannotBeMadeIsSaidOnceAndTheTextIsNotLost) {
  options_.routing.tee.others = kBoth;
  options_.prefix = "";
  options_.local_workers = options_.world_size = 2;
  options_.stdout_fd = out_.write_end.get();
  options_.stderr_fd = err_.write_end.get();
  output_.emplace(io_, options_);
  for (int rank : {0, 1})
    workers_.push_back(std::move(
        output_->open({.rank = rank, .local_rank = rank, .directory = "/no/where"}).value()));
  write_all(out(1), "text\n");
  end_all();
  EXPECT_EQ(shown(), "text\n");
  const std::string said = shown_err();
  EXPECT_EQ(
      said,
      "ddprun: cannot write to '/no/where/stdout.log': No such file or directory; the job goes "
      "on, its log files are incomplete\n");
}

TEST_F(RoutingTest, AFullDiskIsSaidOnceAndTheConsoleGoesOn) {
  fs::create_directories(directory(0));
  fs::create_directories(directory(1));
  options_.routing.tee.others = kBoth;
  options_.prefix = "";
  start(2);
  rlimit old{};
  ::getrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{.rlim_cur = 4, .rlim_max = old.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &small);
  for (int rank : {0, 1}) write_all(out(rank), "123456\n");
  end_all();
  ::setrlimit(RLIMIT_FSIZE, &old);
  EXPECT_EQ(shown(), "123456\n123456\n");
  EXPECT_EQ(file("attempt_0/0/stdout.log"), "1234");
  EXPECT_THAT(
      shown_err(),
      ::testing::MatchesRegex("ddprun: cannot write to '.*': File too large; the job goes on.*\n"));
}

TEST_F(RoutingTest, RemovedFilesAreNamedOnceAtTheEnd) {
  options_.routing.tee.others = {.out = true, .err = false};
  options_.routing.redirects.others = kBoth;
  start(2);
  fs::remove_all(directory(0));
  write_all(out(0), "text\n");
  end_all();
  output_->stop_reading();
  poll_now(io_);
  EXPECT_THAT(shown(), HasSubstr("text"));
  EXPECT_EQ(shown_err(), "ddprun: the log file '" + directory(0) +
                             "/stdout.log' and 1 more were removed while the job ran, so its text "
                             "is lost\n");
}

class StuckTee : public RoutingTest {
 protected:
  void SetUp() override {
    options_.routing.tee.others = {.out = true, .err = false};
    options_.prefix = "";
    start(1);
  }
  // Far more than the console and all pipes hold.
  std::string write_a_lot() {
    std::string sent;
    for (int i = 0; i < 400; ++i) {
      std::string burst;
      for (int j = 0; j < 800; ++j) burst += std::to_string(i * 1000 + j) + " some text\n";
      write_all(out(0), burst);
      sent += burst;
      poll_now(io_);
    }
    return sent;
  }
};

TEST_F(StuckTee, TheFileGoesOnAndTheConsoleCatchesUp) {
  const std::string sent = write_a_lot();
  ASSERT_GT(sent.size(), 4 * Console::kFull);
  EXPECT_EQ(file("attempt_0/0/stdout.log").size(), sent.size());
  end_all();
  output_->note("the report");
  bool done = false;
  output_->finish(Output::kForever, [&](Unshown) { done = true; });
  std::string got;
  run_until(io_, [&] {
    got += shown();
    return done;
  });
  got += shown();
  EXPECT_EQ(got, sent);
  EXPECT_EQ(shown_err(), "the report\n");
}

TEST_F(StuckTee, AStopSignalWaitsForNoBacklogAndSaysWhereItIs) {
  const std::string sent = write_a_lot();
  end_all();
  std::optional<Unshown> result;
  output_->finish(std::chrono::milliseconds(20), [&](Unshown unshown) { result = unshown; });
  run_until(io_, [&] { return result.has_value(); });
  EXPECT_THAT(shown_err(),
              HasSubstr("bytes for which the console was too slow are only in the log"));
  EXPECT_EQ(file("attempt_0/0/stdout.log").size(), sent.size());
}

TEST_F(StuckTee, AReaderThatGoesEndsTheBacklog) {
  write_a_lot();
  out_.read_end.reset();
  end_all();
  bool done = false;
  output_->finish(Output::kForever, [&](Unshown) { done = true; });
  run_until(io_, [&] { return done; });
  EXPECT_THAT(shown_err(), HasSubstr("ddprun: nobody reads stdout any more"));
}

TEST_F(StuckTee, TheNextAttemptDoesNotLoseTheBacklogOfTheOneBefore) {
  const std::string sent = write_a_lot();
  workers_[0] = open(0, 1);
  write_all(out(0), "second attempt\n");
  std::string got;
  run_until(io_, [&] {
    got += shown();
    return got.size() >= sent.size() + 15;
  });
  EXPECT_THAT(got, HasSubstr("second attempt\n"));
  EXPECT_EQ(file("attempt_0/0/stdout.log"), sent);
}

TEST_F(StuckTee, NotesOfOneConsoleFollowTheBacklog) {
  output_.reset();
  workers_.clear();
  options_.routing.tee.others = kBoth;
  err_.write_end.reset(::dup(out_.write_end.get()));
  start(1);
  const std::string sent = write_a_lot();
  output_->note("the report");
  end_all();
  std::string got;
  run_until(io_, [&] {
    got += shown();
    return got.ends_with("the report\n");
  });
  EXPECT_EQ(got, sent + "the report\n");
}

}  // namespace
}  // namespace ddprun::output
