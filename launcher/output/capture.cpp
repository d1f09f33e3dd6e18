#include "launcher/output/capture.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace ddprun::output {
namespace {

// After this much other streams get their turn.
constexpr std::size_t kBytesPerTurn = std::size_t{256} << 10;
constexpr std::size_t kMostDrained = std::size_t{1} << 20;

}  // namespace

std::shared_ptr<Capture> Capture::start(boost::asio::io_context& io, UniqueFd read_end,
                                        Setup setup) {
  std::shared_ptr<Capture> capture(new Capture(io, std::move(setup)));
  capture->stream_.assign(read_end.release());
  capture->wait();
  return capture;
}

Capture::Capture(boost::asio::io_context& io, Setup setup)
    : stream_(io),
      setup_(std::move(setup)),
      tail_(setup_.tail_limit),
      file_works_(setup_.file.has_value()) {}

bool Capture::must_pause() const {
  return !file_works_ && setup_.shown && (behind_ > 0 || setup_.shown->console().full());
}

void Capture::wait() {
  // With a backlog and no file any more, catch_up() comes back here.
  if (!open() || waiting_ || (must_pause() && behind_ > 0)) return;
  waiting_ = true;
  if (must_pause()) {
    setup_.shown->console().call_when_drained([self = shared_from_this()] {
      self->waiting_ = false;
      self->wait();
    });
    return;
  }
  stream_.async_wait(stream_.wait_read,
                     [self = shared_from_this()](const boost::system::error_code&) {
                       self->waiting_ = false;
                       // A wait that was fulfilled just before close() still arrives, without an
                       // error.
                       if (self->open()) self->read_available();
                     });
}

void Capture::read_available() {
  std::size_t turn = 0;
  while (turn < kBytesPerTurn && !must_pause()) {
    const Read read = read_once();
    if (read == Read::end) return close();
    if (read == Read::nothing) break;
    turn += last_read_;
  }
  wait();
}

Capture::Read Capture::read_once() {
  ssize_t n = 0;
  do {
    n = ::read(stream_.native_handle(), setup_.buffer.data(), setup_.buffer.size());
  } while (n < 0 && errno == EINTR);
  if (n < 0 && errno == EAGAIN) return Read::nothing;
  // EIO from a pty: its last writer has closed it. Any other error ends the stream as well.
  if (n <= 0) return Read::end;
  last_read_ = static_cast<std::size_t>(n);
  take({setup_.buffer.data(), last_read_});
  return Read::some;
}

void Capture::take(std::string_view bytes) {
  tail_.add(bytes);
  if (setup_.filter) setup_.filter->add(bytes);
  if (file_works_) write_file(bytes);
  if (setup_.shown) show(bytes);
}

void Capture::write_file(std::string_view bytes) {
  const int error = setup_.file->write(bytes);
  if (error == 0) return;
  file_works_ = false;
  setup_.file_failed(setup_.file->path(), error);
}

void Capture::show(std::string_view bytes) {
  Console& console = setup_.shown->console();
  if (behind_ > 0 && !file_works_) {
    unsaved_ += bytes;
  } else if (!file_works_ || (behind_ == 0 && !console.full())) {
    setup_.shown->show(bytes);
  } else {
    if (behind_ == 0) catch_up_later();
    if (behind_ == 0) shown_until_ = setup_.file->size() - bytes.size();
    behind_ += bytes.size();
  }
}

void Capture::catch_up_later() {
  setup_.shown->console().call_when_drained([self = shared_from_this()] { self->catch_up(); });
}

void Capture::catch_up() {
  Console& console = setup_.shown->console();
  while (behind_ > 0 && !console.full() && !console.discarding()) {
    const std::size_t most = std::min<std::uint64_t>(behind_, setup_.buffer.size());
    const std::size_t got = setup_.file->read_at(shown_until_, setup_.buffer.first(most));
    if (got == 0) break;  // somebody has emptied the file
    setup_.shown->show({setup_.buffer.data(), got});
    shown_until_ += got;
    behind_ -= got;
  }
  if (behind_ > 0 && console.full()) return catch_up_later();
  behind_ = 0;
  if (!unsaved_.empty()) setup_.shown->show(std::exchange(unsaved_, {}));
  if (!open()) finish_shown();
  console.wake();
  wait();
}

std::uint64_t Capture::skip_behind() {
  const std::uint64_t skipped = std::exchange(behind_, 0);
  // The line that was begun is not the one that goes on.
  if (skipped > 0) finish_shown();
  return skipped;
}

void Capture::read_now() {
  if (open()) read_available();
}

void Capture::drain_now() {
  std::size_t drained = 0;
  while (open() && drained < kMostDrained && read_once() == Read::some) drained += last_read_;
  close();
}

void Capture::close() {
  if (!open()) return;
  stream_.close();
  if (setup_.filter) setup_.filter->finish();
  if (behind_ == 0) finish_shown();
  if (auto ended = std::exchange(setup_.ended, nullptr)) ended();
}

void Capture::finish_shown() {
  if (setup_.shown) setup_.shown->finish();
}

}  // namespace ddprun::output
