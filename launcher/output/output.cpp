#include "launcher/output/output.h"

#include <boost/asio/post.hpp>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

namespace ddprun::output {
namespace {

constexpr std::size_t kReadSize = std::size_t{64} << 10;

Options with_filters(Options options) {
  options.routing.filter_out = !options.stdout_filters.empty();
  options.routing.filter_err = !options.stderr_filters.empty();
  return options;
}

}  // namespace

Output::Output(boost::asio::io_context& io, const Options& options)
    : io_(io),
      options_(with_filters(options)),
      buffer_(std::make_unique_for_overwrite<char[]>(kReadSize)),
      shared_(make_shared_part()),
      out_(Stream::out, options_, shared_),
      err_(Stream::err, options_, shared_),
      timer_(io) {
  // A limit on the size of files (ulimit -f) is an error code, too.
  if (keeps_files()) std::signal(SIGXFSZ, SIG_IGN);
  // Two buffers in front of one pipe would mix lines whenever the pipe takes only a part.
  if (err_.console().same_file(out_.console())) err_.share_console(out_);
  watch_console(out_);
  if (!err_.shares_console(out_)) watch_console(err_);
}

Output::~Output() {
  for (Side* side : {&out_, &err_}) side->close();
}

Side::Shared Output::make_shared_part() {
  return {.io = io_,
          .buffer = {buffer_.get(), kReadSize},
          .tail_limit = tail_limit(2 * static_cast<std::size_t>(options_.local_workers)),
          .opened = [this] { ++open_streams_; },
          .ended = [this] { stream_ended(); },
          .no_terminal =
              [this](const std::string& why) {
                if (std::exchange(said_no_terminal_, true)) return;
                note("ddprun: " + why + "; pipes are used, so output may appear late");
              },
          .file_failed = [this](const std::string& path, int error) { file_failed(path, error); }};
}

void Output::watch_console(Side& side) {
  side.console().on_empty([this] { console_empty(); });
  side.console().on_problem([this, &side](int error) { console_failed(side.name(), error); });
}

// A stream that `| head` does not read any more is no reason to end hours of training, and no
// secret either.
void Output::console_failed(const char* name, int error) {
  const bool reader_gone = error == EPIPE || error == EIO;
  const std::string what =
      reader_gone ? std::string("nobody reads ") + name + " any more"
                  : std::string("cannot write to ") + name + ": " + std::strerror(error);
  note("ddprun: " + what + "; what follows is not shown, the job goes on");
}

void Output::file_failed(const std::string& path, int error) {
  if (std::exchange(said_file_failed_, true)) return;
  note("ddprun: cannot write to '" + path + "': " + std::strerror(error) +
       "; the job goes on, its log files are incomplete");
}

Result<WorkerStreams> Output::open(const WorkerPlace& place) {
  Result<UniqueFd> out = out_.open(place);
  if (!out) return out.error();
  Result<UniqueFd> err = err_.open(place);
  if (!err) return err.error();
  return WorkerStreams{std::move(*out), std::move(*err)};
}

void Output::stream_ended() {
  if (--open_streams_ > 0 || !drained_) return;
  boost::asio::post(io_, std::exchange(drained_, nullptr));
}

std::vector<std::string> Output::tail_stdout(int local_rank) const {
  return out_.tail(local_rank);
}

std::vector<std::string> Output::tail_stderr(int local_rank) const {
  return err_.tail(local_rank);
}

void Output::catch_up(int local_rank) {
  for (Side* side : {&out_, &err_}) side->catch_up(local_rank);
}

void Output::when_drained(std::function<void()> drained) {
  if (open_streams_ == 0) {
    boost::asio::post(io_, std::move(drained));
  } else {
    drained_ = std::move(drained);
  }
}

void Output::note(std::string_view text) {
  std::string lines(text);
  if (lines.empty() || lines.back() != '\n') lines += '\n';
  if (late_notes_.empty() && !err_is_behind()) return err_.console().append_note(lines);
  late_notes_ += lines;
}

bool Output::err_is_behind() const {
  return err_.behind() > 0 || (err_.shares_console(out_) && out_.behind() > 0);
}

void Output::console_empty() {
  if (!late_notes_.empty() && !err_is_behind())
    err_.console().append_note(std::exchange(late_notes_, {}));
  check_finished();
}

void Output::stop_reading() {
  for (Side* side : {&out_, &err_}) side->drain_now();
  note_removed_files();
}

void Output::note_removed_files() {
  if (said_removed_) return;
  std::vector<std::string> paths = out_.removed_files();
  for (std::string& path : err_.removed_files()) paths.push_back(std::move(path));
  if (paths.empty()) return;
  said_removed_ = true;
  const std::size_t more = paths.size() - 1;
  note("ddprun: the log file '" + paths.front() + "'" +
       (more == 0 ? " was" : " and " + std::to_string(more) + " more were") +
       " removed while the job ran, so its text is lost");
}

void Output::finish(std::chrono::milliseconds patience, std::function<void(Unshown)> done) {
  stop_reading();
  done_ = std::move(done);
  hurry(std::min(patience, patience_));
  check_finished();
}

void Output::hurry(std::chrono::milliseconds patience) {
  patience_ = patience;
  if (patience != kForever) skip_behind();
  if (done_) begin_patience();
}

void Output::skip_behind() {
  const std::uint64_t skipped = out_.skip_behind() + err_.skip_behind();
  if (skipped == 0) return;
  late_notes_ += "ddprun: " + std::to_string(skipped) +
                 " bytes for which the console was too slow are only in the log files\n";
  err_.console().append_note(std::exchange(late_notes_, {}));
}

void Output::begin_patience() {
  timer_.cancel();
  if (patience_ == kForever) return;
  skip_behind();
  out_written_ = out_.console().total_written();
  err_written_ = err_.console().total_written();
  timer_.expires_after(patience_);
  timer_.async_wait([this](const boost::system::error_code& cancelled) {
    if (!cancelled && done_) patience_over();
  });
}

void Output::patience_over() {
  // Stderr first: what is noted there about stdout has had no time to be read.
  if (!err_.shares_console(out_)) give_up_stuck(err_, err_written_);
  give_up_stuck(out_, out_written_);
  begin_patience();
}

void Output::give_up_stuck(Side& side, std::uint64_t written_before) {
  if (side.console().empty() || side.console().total_written() != written_before) return;
  const std::size_t lost = side.console().give_up();
  unshown_.bytes += lost;
  note(std::string("ddprun: nobody read ") + side.name() + "; " + std::to_string(lost) +
       " bytes were not written");
}

void Output::check_finished() {
  if (!done_ || !late_notes_.empty() || out_.behind() + err_.behind() > 0) return;
  if (!out_.console().empty() || !err_.console().empty()) return;
  timer_.cancel();
  boost::asio::post(io_,
                    [done = std::exchange(done_, nullptr), unshown = unshown_] { done(unshown); });
}

}  // namespace ddprun::output
