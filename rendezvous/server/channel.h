// The bytes of one connection that is no store client: a reader, an outbox and an orderly end. One
// thread, that of the io_context.
#pragma once

#include <sys/types.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/basic_stream_descriptor.hpp>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>

#include "rendezvous/base/unique_fd.h"

namespace ddprun::server {

// A text that several outboxes may share.
using Bytes = std::shared_ptr<const std::string>;
// Counts `text` in `*total` for as long as somebody holds it.
Bytes counted_bytes(std::string text, const std::shared_ptr<std::uint64_t>& total);

class Channel : public std::enable_shared_from_this<Channel> {
 public:
  class Owner {
   public:
    // What has arrived, at least one byte. The channel may be closed in it.
    virtual void on_bytes(std::string_view bytes) = 0;
    // The other side has gone; the channel is closed. Once, last, and never from inside a call of
    // the channel. `how` goes behind "node x is lost: ": "its connection was reset".
    virtual void on_gone(const std::string& how) = 0;

   protected:
    ~Owner() = default;
  };

  // `socket` is connected and non-blocking. `owner` must live until close() or on_gone().
  Channel(boost::asio::io_context& io, UniqueFd socket, Owner& owner);

  // Reads from now on.
  void start() { wait_readable(); }
  // Puts it behind what waits already; flush() sends.
  void queue(Bytes bytes);
  // Sends what the socket takes now, up to a limit that lets others have their turn; the rest goes
  // later. If sending fails on_gone follows.
  void flush();
  // Bytes that wait.
  std::uint64_t unsent() const { return unsent_; }

  // Says that nothing more will be queued: when all is sent the other side sees the end, and what
  // it still sends is thrown away, so that it can read to the end. on_gone comes when it has closed
  // as well; the owner limits how long that may take.
  void finish();
  // Closes now. Nothing is called any more.
  void close();

 private:
  using Executor = boost::asio::io_context::executor_type;
  using Stream = boost::asio::posix::basic_stream_descriptor<Executor>;

  void wait_readable();
  void on_readable();
  void on_end_of_input();
  void wait_writable();
  ssize_t send_some();
  void fail(int error);
  void gone(const std::string& how);

  Stream stream_;
  Owner* owner_;
  std::deque<Bytes> outbox_;
  std::size_t sent_of_first_ = 0;
  std::uint64_t unsent_ = 0;
  bool waits_to_write_ = false;
  bool finishing_ = false;
  bool input_ended_ = false;
  bool failed_ = false;  // on_gone is on its way
};

}  // namespace ddprun::server
