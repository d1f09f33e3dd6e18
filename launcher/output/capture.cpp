#include "launcher/output/capture.h"

#include <unistd.h>

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
    : stream_(io), setup_(std::move(setup)), tail_(setup_.tail_limit) {}

void Capture::wait() {
  if (!open()) return;
  if (setup_.console->full()) {
    setup_.console->call_when_drained([self = shared_from_this()] { self->wait(); });
    return;
  }
  stream_.async_wait(stream_.wait_read,
                     [self = shared_from_this()](const boost::system::error_code&) {
                       // A wait that was fulfilled just before close() still arrives, without an
                       // error.
                       if (self->open()) self->read_available();
                     });
}

void Capture::read_available() {
  std::size_t turn = 0;
  while (turn < kBytesPerTurn && !setup_.console->full()) {
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
  if (setup_.style.raw) {
    in_line_ = bytes.back() != '\n';
    return setup_.console->append_raw(bytes);
  }
  splitter_.feed(bytes, [this](std::string_view lines) {
    setup_.console->append_lines(setup_.style.prefix, lines);
  });
}

void Capture::drain_now() {
  std::size_t drained = 0;
  while (open() && drained < kMostDrained && read_once() == Read::some) drained += last_read_;
  close();
}

void Capture::close() {
  if (!open()) return;
  stream_.close();
  // On a shared console the other stream may have ended the line already.
  if (in_line_) setup_.console->end_line();
  splitter_.finish(
      [this](std::string_view lines) { setup_.console->append_lines(setup_.style.prefix, lines); });
  if (auto ended = std::exchange(setup_.ended, nullptr)) ended();
}

}  // namespace ddprun::output
