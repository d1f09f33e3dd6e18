// All output of one node's workers, and ddprun's own: what the agent uses of this room.
//
// Each worker's stdout and stderr come through a pipe or a pseudo-terminal, reach our stdout and
// stderr in whole lines, and their ends are kept for the report; on request they go to log files,
// beside the console (-t) or instead (-r). Nothing here blocks the event loop, whoever does not
// read.
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

#include "launcher/output/options.h"
#include "launcher/output/side.h"
#include "rendezvous/base/result.h"
#include "rendezvous/base/unique_fd.h"

namespace ddprun::output {

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

  // Makes the channels and log files of one worker and starts to read. The streams of an earlier
  // attempt of this local rank end here and their tails go; its files stay. Where there are no
  // pseudo-terminals a pipe is taken instead, and where a file cannot be made the stream goes on
  // without it; a note says so, once.
  Result<WorkerStreams> open(const WorkerPlace& place);

  // The last lines, oldest first (see Tail::lines); empty before open(), and with --output inherit.
  std::vector<std::string> tail_stdout(int local_rank) const;
  std::vector<std::string> tail_stderr(int local_rank) const;

  // Files were asked for that stay after the run.
  bool keeps_files() const { return output::keeps_files(options_.routing); }

  // Reads what a worker has written until now, without waiting.
  void catch_up(int local_rank);

  // Streams that have not reached their end.
  int open_streams() const { return open_streams_; }
  // Calls `drained` once, from the event loop, when no stream is open (any more).
  void when_drained(std::function<void()> drained);

  // A message of ddprun itself, one line or more, to stderr, behind all that has been read so far
  // (what waits in a log file for a slow console included). The last newline is added where it is
  // missing.
  void note(std::string_view text);

  // Whole lines for programs that read our stdout: a report, an event.
  void print(std::string_view lines) { out_.console().append_note(lines); }

  // Reads what is there without waiting, completes last lines and closes all streams. A note names
  // log files that somebody has removed.
  void stop_reading();

  // stop_reading(), then writes what is waiting, and calls `done` from the event loop. A stream of
  // ours that has taken nothing for `patience` is given up, which is noted on the other one if that
  // is still read. Once only.
  void finish(std::chrono::milliseconds patience, std::function<void(Unshown)> done);
  // From now on finish() waits only `patience`, also if it is called later: for a stop signal. What
  // waits in log files for a slow console is not shown any more, which is noted.
  void hurry(std::chrono::milliseconds patience);

 private:
  Side::Shared make_shared_part();
  void stream_ended();
  void watch_console(Side& side);
  void console_failed(const char* name, int error);
  void file_failed(const std::string& path, int error);
  void note_removed_files();
  void console_empty();
  bool err_is_behind() const;
  void skip_behind();
  void begin_patience();
  void patience_over();
  void give_up_stuck(Side& side, std::uint64_t written_before);
  void check_finished();

  boost::asio::io_context& io_;
  const Options options_;
  std::unique_ptr<char[]> buffer_;  // shared by all captures
  const Side::Shared shared_;
  Side out_;
  Side err_;  // shares out_'s console where both are the same file
  int open_streams_ = 0;
  bool said_no_terminal_ = false;
  bool said_file_failed_ = false;
  bool said_removed_ = false;
  std::string late_notes_;  // behind the backlog of our stderr
  std::function<void()> drained_;
  boost::asio::steady_timer timer_;
  std::chrono::milliseconds patience_ = kForever;
  std::uint64_t out_written_ = 0;  // when patience began
  std::uint64_t err_written_ = 0;
  std::function<void(Unshown)> done_;
  Unshown unshown_;
};

}  // namespace ddprun::output
