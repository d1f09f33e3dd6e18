// One of our two streams, and all workers' streams that lead there.
#pragma once

#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "launcher/output/capture.h"
#include "launcher/output/channel.h"
#include "launcher/output/console.h"
#include "launcher/output/options.h"
#include "rendezvous/base/result.h"
#include "rendezvous/base/unique_fd.h"

namespace ddprun::output {

// Used by Output, on the thread that runs `io` only.
class Side {
 public:
  // What the captures of both sides share; the functions are Output's.
  struct Shared {
    boost::asio::io_context& io;
    std::span<char> buffer;
    std::size_t tail_limit;
    std::function<void()> opened;
    std::function<void()> ended;
    std::function<void(const std::string&)> no_terminal;  // why pipes are used instead
    std::function<void(const std::string& path, int error)> file_failed;
  };

  // Borrows all three.
  Side(Stream stream, const Options& options, const Shared& shared);

  Console& console() const { return *console_; }
  // Both sides lead to the same file: one buffer, one order.
  void share_console(const Side& other) { console_ = other.console_; }
  bool shares_console(const Side& other) const { return console_ == other.console_; }
  const char* name() const { return stream_ == Stream::out ? "stdout" : "stderr"; }

  // Makes what the worker gets as its descriptor. What was opened for an earlier attempt of this
  // local rank ends here.
  Result<UniqueFd> open(const WorkerPlace& place);

  // The last lines, oldest first: what was read, or the end of the file that the worker writes
  // itself.
  std::vector<std::string> tail(int local_rank) const;
  // As Output::catch_up.
  void catch_up(int local_rank);
  // Bytes that wait in files for the console.
  std::uint64_t behind() const;
  std::uint64_t skip_behind();
  // Paths of log files that somebody has removed.
  std::vector<std::string> removed_files() const;
  void drain_now();
  void close();

 private:
  // What is there for one worker; both are empty when it has our own descriptor.
  struct Slot {
    std::shared_ptr<Capture> capture;
    std::optional<LogFile> file;  // the worker's descriptor, when nobody reads along
  };

  Slot& slot(int local_rank) { return slots_.at(static_cast<std::size_t>(local_rank)); }
  void end_attempt(Slot& slot);
  Result<UniqueFd> open_capture(const WorkerPlace& place, const StreamPlan& plan);
  std::optional<LogFile> make_file(const std::string& path);
  std::optional<ConsoleStream> make_shown(const WorkerPlace& place, const StreamPlan& plan);
  std::optional<LineFilter> make_filter(const WorkerPlace& place);
  Prefix make_prefix(const WorkerPlace& place, bool color) const;
  Result<Channel> make_channel_for(const WorkerPlace& place);
  const std::vector<std::string>& filters() const;

  const Stream stream_;
  const Options& options_;
  const Shared& shared_;
  int fd_;
  std::shared_ptr<Console> console_;
  bool prefixed_;
  bool colored_;
  bool raw_;
  bool bars_;
  ChannelKind kind_;
  std::vector<Slot> slots_;                        // by local rank
  std::vector<std::shared_ptr<Capture>> earlier_;  // of earlier attempts, with a backlog
  std::shared_ptr<FilteredLog> filtered_;
  int filtered_attempt_ = -1;
};

}  // namespace ddprun::output
