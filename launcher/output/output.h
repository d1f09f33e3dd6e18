// All output of one node's workers, and ddprun's own: what the agent uses of this room.
//
// Each worker's stdout and stderr come through a pipe or a pseudo-terminal, reach our stdout and
// stderr in whole lines, and their ends are kept for the report. Nothing here blocks the event
// loop, whoever does not read.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/output/capture.h"
#include "launcher/output/channel.h"
#include "launcher/output/console.h"
#include "rendezvous/base/result.h"
#include "rendezvous/base/unique_fd.h"

namespace ddprun::output {

struct Options {
  int local_workers = 1;  // on this node
  int world_size = 1;     // in the job; lines carry prefixes when there is more than one
  int stdout_fd = 1;      // borrowed, must stay open
  int stderr_fd = 2;
  const char* no_color = nullptr;  // getenv("NO_COLOR")
  const char* term = nullptr;      // getenv("TERM")
};

// The ends that a worker gets as its descriptors 1 and 2. Close them once it has been started, or
// could not be: the streams end when the last copy is closed.
struct WorkerStreams {
  UniqueFd out;
  UniqueFd err;
};

// What could not be shown.
struct Unshown {
  std::size_t bytes = 0;  // given up because nobody read our stdout or stderr
};

// Used on the thread that runs `io` only; must outlive the last handler that `io` runs.
class Output {
 public:
  // finish() with this waits as long as it takes, as any program does that writes into `| less`.
  static constexpr std::chrono::milliseconds kForever = std::chrono::milliseconds::max();

  // Borrows `io`. Makes the process ignore SIGPIPE and SIGTTOU (see Console).
  Output(boost::asio::io_context& io, const Options& options);
  ~Output();
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  // Makes the channels of one worker and starts to read them. `local_rank` is below
  // Options::local_workers. The streams of an earlier attempt of this local rank end here and their
  // tails go. Where there are no pseudo-terminals a pipe is taken instead and a note says so, once.
  Result<WorkerStreams> open(int rank, int local_rank);

  // The last lines, oldest first (see Tail::lines); empty before open().
  std::vector<std::string> tail_stdout(int local_rank) const;
  std::vector<std::string> tail_stderr(int local_rank) const;

  // Streams that have not reached their end.
  int open_streams() const { return open_streams_; }
  // Calls `drained` once, from the event loop, when no stream is open (any more).
  void when_drained(std::function<void()> drained);

  // A message of ddprun itself, one line or more, to stderr, behind all that has been read so far.
  // The last newline is added where it is missing.
  void note(std::string_view text);

  // Reads what is there without waiting, completes last lines and closes all streams.
  void stop_reading();

  // stop_reading(), then writes what is waiting, and calls `done` from the event loop. A stream of
  // ours that has taken nothing for `patience` is given up, which is noted on the other one if that
  // is still read. Once only.
  void finish(std::chrono::milliseconds patience, std::function<void(Unshown)> done);
  // From now on finish() waits only `patience`, also if it is called later: for a stop signal.
  void hurry(std::chrono::milliseconds patience);

 private:
  // One of our two streams, and how workers' streams reach it.
  struct Side {
    std::shared_ptr<Console> console;
    ChannelKind kind = ChannelKind::pipe;
    int fd = -1;
    bool prefix = false;
    bool color = false;
    std::vector<std::shared_ptr<Capture>> captures;  // by local rank
    std::uint64_t written_before = 0;                // when patience began
  };

  Side make_side(const Options& options, int fd);
  Result<UniqueFd> open_stream(Side& side, int rank, int local_rank);
  Result<Channel> make_channel_for(Side& side);
  void stream_ended();
  void watch_console(Side& side, const char* name);
  void begin_patience();
  void patience_over();
  void give_up_stuck(Side& side, const char* name);
  void check_finished();

  boost::asio::io_context& io_;
  std::size_t tail_limit_;
  bool raw_allowed_;                // this node has one worker
  std::unique_ptr<char[]> buffer_;  // shared by all captures
  Side out_;
  Side err_;  // shares out_'s console where both are the same file
  int open_streams_ = 0;
  bool said_no_pty_ = false;
  std::function<void()> drained_;
  boost::asio::steady_timer timer_;
  std::chrono::milliseconds patience_ = kForever;
  std::function<void(Unshown)> done_;
  Unshown unshown_;
};

}  // namespace ddprun::output
