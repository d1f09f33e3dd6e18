#include "launcher/output/side.h"

#include <fcntl.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <utility>

namespace ddprun::output {
namespace {

ChannelKind kind_of(cli::OutputMode mode, bool terminal) {
  if (mode == cli::OutputMode::pty) return ChannelKind::pty;
  return mode == cli::OutputMode::automatic ? automatic_kind(terminal) : ChannelKind::pipe;
}

Result<UniqueFd> open_null() {
  UniqueFd fd(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  if (!fd) return Error{std::string("cannot open /dev/null: ") + std::strerror(errno)};
  return fd;
}

Result<UniqueFd> copy_of(int fd) {
  UniqueFd copy(::fcntl(fd, F_DUPFD_CLOEXEC, 3));
  if (!copy && errno == EBADF) return open_null();  // ddprun itself was started without it
  if (!copy) return Error{std::string("cannot copy a descriptor: ") + std::strerror(errno)};
  return copy;
}

bool is_dumb(const char* term) {
  return term == nullptr || std::string_view(term) == "dumb";
}

}  // namespace

Side::Side(Stream stream, const Options& options, const Shared& shared)
    : stream_(stream),
      options_(options),
      shared_(shared),
      fd_(stream == Stream::out ? options.stdout_fd : options.stderr_fd),
      console_(Console::make(shared.io, fd_)),
      slots_(static_cast<std::size_t>(options.local_workers)) {
  const bool terminal = console_->is_terminal();
  const bool asked = (options.prefix && !options.prefix_where_usual) || options.routing.tee.any();
  prefixed_ = uses_prefix(options.world_size, terminal, asked) && options.prefix != "";
  colored_ = uses_color(options.color, terminal, options.no_color, options.term);
  raw_ = options.local_workers == 1 && !prefixed_;
  bars_ = terminal && !raw_ && !is_dumb(options.term);
  kind_ = kind_of(options.routing.mode, terminal);
}

const std::vector<std::string>& Side::filters() const {
  return stream_ == Stream::out ? options_.stdout_filters : options_.stderr_filters;
}

Result<UniqueFd> Side::open(const WorkerPlace& place) {
  using Descriptor = StreamPlan::Descriptor;
  end_attempt(slot(place.local_rank));
  StreamPlan plan = plan_stream(options_.routing, stream_, place.local_rank);
  if (plan.descriptor == Descriptor::inherited) return copy_of(fd_);
  if (plan.descriptor == Descriptor::null) return open_null();
  if (plan.descriptor == Descriptor::channel) return open_capture(place, plan);
  auto& file = slot(place.local_rank).file;
  file = make_file(place.directory + "/" + name() + ".log");
  if (file) return copy_of(file->fd());
  plan.file = false;  // its last lines are still wanted for the report
  return open_capture(place, plan);
}

void Side::end_attempt(Slot& slot) {
  if (slot.capture) slot.capture->drain_now();
  // Each of them keeps its log file open.
  std::erase_if(earlier_, [](const auto& capture) { return capture->behind() == 0; });
  if (slot.capture && slot.capture->behind() > 0) earlier_.push_back(std::move(slot.capture));
  slot = {};
}

Result<UniqueFd> Side::open_capture(const WorkerPlace& place, const StreamPlan& plan) {
  Result<Channel> channel = make_channel_for(place);
  if (!channel) return channel.error();
  Capture::Setup setup;
  setup.shown = make_shown(place, plan);
  if (plan.file) setup.file = make_file(place.directory + "/" + name() + ".log");
  if (plan.filter) setup.filter = make_filter(place);
  setup.tail_limit = shared_.tail_limit;
  setup.buffer = shared_.buffer;
  setup.ended = shared_.ended;
  setup.file_failed = shared_.file_failed;
  shared_.opened();
  slot(place.local_rank).capture =
      Capture::start(shared_.io, std::move(channel->read_end), std::move(setup));
  return std::move(channel->write_end);
}

std::optional<LogFile> Side::make_file(const std::string& path) {
  Result<LogFile> file = LogFile::create(path);
  if (file) return std::move(*file);
  shared_.file_failed(path, errno);
  return {};
}

std::optional<ConsoleStream> Side::make_shown(const WorkerPlace& place, const StreamPlan& plan) {
  if (!plan.console) return {};
  Style style{.raw = raw_, .bars = bars_, .prefix = {}};
  style.order = 2 * place.rank + (stream_ == Stream::err ? 1 : 0);
  if (prefixed_) style.prefix = make_prefix(place, colored_);
  return ConsoleStream(console_, std::move(style));
}

// The workers of one attempt share a file; the first of them makes it.
std::optional<LineFilter> Side::make_filter(const WorkerPlace& place) {
  if (std::exchange(filtered_attempt_, place.attempt) != place.attempt) {
    const auto attempt = std::filesystem::path(place.directory).parent_path();
    auto file = make_file(attempt / (std::string("filtered_") + name() + ".log"));
    filtered_ =
        file ? std::make_shared<FilteredLog>(std::move(*file), filters(), shared_.file_failed)
             : nullptr;
  }
  if (!filtered_) return {};
  return LineFilter(filtered_, make_prefix(place, false));
}

Prefix Side::make_prefix(const WorkerPlace& place, bool color) const {
  const PrefixFields fields{.rank = place.rank,
                            .local_rank = place.local_rank,
                            .attempt = place.attempt,
                            .role_name = options_.role_name,
                            .hostname = options_.hostname,
                            .stream = name()};
  return Prefix(options_.prefix ? std::string_view(*options_.prefix) : kDefaultPrefix, fields,
                color ? color_of(place.rank) : "");
}

// A bar that asks for the width of its terminal has to leave room for the prefix.
Result<Channel> Side::make_channel_for(const WorkerPlace& place) {
  std::size_t reserved = 0;
  if (kind_ == ChannelKind::pty && prefixed_)
    reserved = make_prefix(place, false).text("00:00:00.000").size();
  Result<Channel> channel = make_channel(kind_, fd_, static_cast<int>(reserved));
  if (channel || kind_ == ChannelKind::pipe) return channel;
  shared_.no_terminal(channel.error().text);
  kind_ = ChannelKind::pipe;
  return make_channel(kind_, fd_);
}

std::vector<std::string> Side::tail(int local_rank) const {
  const Slot& slot = slots_.at(static_cast<std::size_t>(local_rank));
  if (slot.capture) return slot.capture->tail().lines();
  if (!slot.file) return {};
  Tail tail(shared_.tail_limit);
  tail.add(slot.file->end(shared_.tail_limit + 1));  // one more, so that a cut line is noticed
  return tail.lines();
}

void Side::catch_up(int local_rank) {
  if (const auto& capture = slot(local_rank).capture) capture->read_now();
}

std::uint64_t Side::behind() const {
  std::uint64_t bytes = 0;
  for (const Slot& slot : slots_)
    if (slot.capture) bytes += slot.capture->behind();
  for (const auto& capture : earlier_) bytes += capture->behind();
  return bytes;
}

std::uint64_t Side::skip_behind() {
  std::uint64_t bytes = 0;
  for (const Slot& slot : slots_)
    if (slot.capture) bytes += slot.capture->skip_behind();
  for (const auto& capture : earlier_) bytes += capture->skip_behind();
  return bytes;
}

std::vector<std::string> Side::removed_files() const {
  std::vector<std::string> paths;
  for (const Slot& slot : slots_) {
    const auto& file = slot.capture ? slot.capture->file() : slot.file;
    if (file && file->removed()) paths.push_back(file->path());
  }
  return paths;
}

void Side::drain_now() {
  for (const Slot& slot : slots_)
    if (slot.capture) slot.capture->drain_now();
}

void Side::close() {
  console_->close();
  for (const Slot& slot : slots_)
    if (slot.capture) slot.capture->close();
}

}  // namespace ddprun::output
