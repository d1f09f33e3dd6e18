// Passes bytes between a socket that speaks TLS and one that does not, both ways, until both have
// ended: TLS ends here, and whoever has the other end of the plain one needs not know of it.
//
// What one side does not take is not read from the other one, so that each holds a few tens of
// kilobytes; the end of one side is passed on to the other. A handshake may take 30 s. One thread,
// that of the io_context.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/basic_stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "rendezvous/base/unique_fd.h"
#include "rendezvous/guard/tls.h"

namespace ddprun::guard {

// How a pump ended.
struct TlsEnd {
  // Empty: both sides have ended, or the plain one before TLS was open; else why the connection is
  // of no use, "certificate has expired; ...", or how it was lost.
  std::string why;
  // TLS does not accept the other side, or is not accepted: another try will end alike.
  bool refused = false;
};

class TlsPump : public std::enable_shared_from_this<TlsPump> {
 public:
  struct Hooks {
    // The handshake is over. Before any byte of the other side is passed on.
    std::function<void(const TlsFacts&)> on_open;
    // The plain side has gone; until the other one has taken what is left for it, or has not for
    // 5 s, the connection takes up room for nobody.
    std::function<void()> on_leaving = {};
    // It is over. Last, and once.
    std::function<void(const TlsEnd&)> on_end;
  };

  // Both sockets are connected and non-blocking. Hooks come from the event loop.
  TlsPump(boost::asio::io_context& io, UniqueFd secure, UniqueFd plain, TlsStream tls, Hooks hooks);

  // Begins; `first` is what was read from `secure` already.
  void start(std::string first = {});
  // Does at once what the event loop would do in its turn: takes what has arrived.
  void hurry();
  // Closes both now. No hook is called any more.
  void close();

 private:
  using Executor = boost::asio::io_context::executor_type;
  using Stream = boost::asio::posix::basic_stream_descriptor<Executor>;

  // One of the two sockets, and what waits to be written to it.
  struct Side {
    explicit Side(boost::asio::io_context& io, UniqueFd socket)
        : stream(io.get_executor(), socket.release()) {}

    Stream stream;
    std::string unsent;
    bool ended = false;       // it sends nothing more
    bool shut = false;        // and is told that nothing more comes
    bool waits_read = false;  // the loop will tell
    bool waits_write = false;
  };

  void step();
  void read_secure();
  void read_plain();
  bool read_some(Side& side, std::string& bytes);
  bool write_some(Side& side);
  int send_some(Side& side);
  std::optional<std::string> last_word();
  void refuse(const Error& why);
  void pass_ends();
  void wait(Side& side, Stream::wait_type what, bool Side::*flag);
  void watch_handshake();
  void watch_opening_end();
  void watch_idle();
  void watch_departure();
  void leave();
  bool may_read(const Side& from, const Side& to) const;
  void lost(int error);
  void tell_open();
  void finish(TlsEnd end);

  Side secure_;
  Side plain_;
  TlsStream tls_;
  Hooks hooks_;
  boost::asio::steady_timer timer_;  // of the handshake; later, while only one side has ended
  bool watches_idle_ = false;
  bool watches_departure_ = false;
  bool leaving_ = false;
  bool started_ = false;      // has what was read before it began
  std::uint64_t passed_ = 0;  // bytes written, of both
  bool closed_ = false;
};

// A plain socket whose bytes go by TLS over `secure`, and the pump between the two, which is yet to
// be started. Error: there are no descriptors left.
struct PumpedSocket {
  UniqueFd plain;
  std::shared_ptr<TlsPump> pump;
};
Result<PumpedSocket> pump_over(boost::asio::io_context& io, UniqueFd secure, TlsStream tls,
                               TlsPump::Hooks hooks);

}  // namespace ddprun::guard
