#include "launcher/output/output.h"

#include <boost/asio/post.hpp>
#include <utility>

#include "launcher/output/prefix.h"

namespace ddprun::output {
namespace {

constexpr std::size_t kReadSize = std::size_t{64} << 10;

std::vector<std::string> tail_of(const std::vector<std::shared_ptr<Capture>>& captures,
                                 int local_rank) {
  const auto& capture = captures.at(static_cast<std::size_t>(local_rank));
  return capture ? capture->tail().lines() : std::vector<std::string>{};
}

}  // namespace

Output::Output(boost::asio::io_context& io, const Options& options)
    : io_(io),
      tail_limit_(tail_limit(2 * static_cast<std::size_t>(options.local_workers))),
      raw_allowed_(options.local_workers == 1),
      buffer_(std::make_unique_for_overwrite<char[]>(kReadSize)),
      out_(make_side(options, options.stdout_fd)),
      err_(make_side(options, options.stderr_fd)),
      timer_(io) {
  // Two buffers in front of one pipe would mix lines whenever the pipe takes only a part.
  if (err_.console->same_file(*out_.console)) err_.console = out_.console;
  watch_console(out_, "stdout");
  if (err_.console != out_.console) watch_console(err_, "stderr");
}

Output::~Output() {
  for (Side* side : {&out_, &err_}) {
    side->console->close();
    for (const auto& capture : side->captures) {
      if (capture) capture->close();
    }
  }
}

Output::Side Output::make_side(const Options& options, int fd) {
  Side side;
  side.console = Console::make(io_, fd);
  side.fd = fd;
  const bool terminal = side.console->is_terminal();
  side.kind = automatic_kind(terminal);
  side.prefix = uses_prefix(options.world_size, terminal);
  side.color = uses_color(terminal, options.no_color, options.term);
  side.captures.resize(static_cast<std::size_t>(options.local_workers));
  return side;
}

void Output::watch_console(Side& side, const char* name) {
  side.console->on_empty([this] { check_finished(); });
  side.console->on_problem([this, name](const std::string& problem) {
    note(std::string("ddprun: cannot write to ") + name + ": " + problem +
         "; what follows is not shown");
  });
}

Result<WorkerStreams> Output::open(int rank, int local_rank) {
  Result<UniqueFd> out = open_stream(out_, rank, local_rank);
  if (!out) return out.error();
  Result<UniqueFd> err = open_stream(err_, rank, local_rank);
  if (!err) return err.error();
  return WorkerStreams{std::move(*out), std::move(*err)};
}

Result<UniqueFd> Output::open_stream(Side& side, int rank, int local_rank) {
  auto& capture = side.captures.at(static_cast<std::size_t>(local_rank));
  if (capture) capture->drain_now();
  Result<Channel> channel = make_channel_for(side);
  if (!channel) return channel.error();
  Capture::Setup setup;
  setup.console = side.console;
  setup.style.raw = raw_allowed_ && !side.prefix;
  if (side.prefix) setup.style.prefix = make_prefix(rank, side.color);
  setup.tail_limit = tail_limit_;
  setup.buffer = {buffer_.get(), kReadSize};
  setup.ended = [this] { stream_ended(); };
  ++open_streams_;
  capture = Capture::start(io_, std::move(channel->read_end), std::move(setup));
  return std::move(channel->write_end);
}

Result<Channel> Output::make_channel_for(Side& side) {
  Result<Channel> channel = make_channel(side.kind, side.fd);
  if (channel || side.kind == ChannelKind::pipe) return channel;
  if (!std::exchange(said_no_pty_, true)) {
    note("ddprun: " + channel.error().text + "; pipes are used, so output may appear late");
  }
  side.kind = ChannelKind::pipe;
  return make_channel(side.kind, side.fd);
}

void Output::stream_ended() {
  if (--open_streams_ > 0 || !drained_) return;
  boost::asio::post(io_, std::exchange(drained_, nullptr));
}

std::vector<std::string> Output::tail_stdout(int local_rank) const {
  return tail_of(out_.captures, local_rank);
}

std::vector<std::string> Output::tail_stderr(int local_rank) const {
  return tail_of(err_.captures, local_rank);
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
  err_.console->append_note(lines);
}

void Output::stop_reading() {
  for (Side* side : {&out_, &err_}) {
    for (const auto& capture : side->captures) {
      if (capture) capture->drain_now();
    }
  }
}

void Output::finish(std::chrono::milliseconds patience, std::function<void(Unshown)> done) {
  stop_reading();
  done_ = std::move(done);
  hurry(std::min(patience, patience_));
  check_finished();
}

void Output::hurry(std::chrono::milliseconds patience) {
  patience_ = patience;
  if (done_) begin_patience();
}

void Output::begin_patience() {
  timer_.cancel();
  if (patience_ == kForever) return;
  for (Side* side : {&out_, &err_}) side->written_before = side->console->total_written();
  timer_.expires_after(patience_);
  timer_.async_wait([this](const boost::system::error_code& cancelled) {
    if (!cancelled && done_) patience_over();
  });
}

void Output::patience_over() {
  // Stderr first: what is noted there about stdout has had no time to be read.
  if (err_.console != out_.console) give_up_stuck(err_, "stderr");
  give_up_stuck(out_, "stdout");
  begin_patience();
}

void Output::give_up_stuck(Side& side, const char* name) {
  if (side.console->empty() || side.console->total_written() != side.written_before) return;
  const std::size_t lost = side.console->give_up();
  unshown_.bytes += lost;
  note(std::string("ddprun: nobody read ") + name + "; " + std::to_string(lost) +
       " bytes were not written");
}

void Output::check_finished() {
  if (!done_ || !out_.console->empty() || !err_.console->empty()) return;
  timer_.cancel();
  boost::asio::post(io_,
                    [done = std::exchange(done_, nullptr), unshown = unshown_] { done(unshown); });
}

}  // namespace ddprun::output
