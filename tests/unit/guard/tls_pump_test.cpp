// Bytes, ends and back pressure of a pump between sockets.
#include "rendezvous/guard/tls_pump.h"

#include <gmock/gmock.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <array>

#include "rendezvous/guard/handshake.h"

namespace ddprun::guard {
namespace {

using testing::HasSubstr;

std::pair<UniqueFd, UniqueFd> sockets() {
  std::array<int, 2> ends{};
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()), 0);
  return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

// A plain socket, TLS, and a plain socket again.
class TlsPumpTest : public testing::Test {
 protected:
  void connect(const std::string& client_key, const std::string& server_key) {
    auto [left, right] = sockets();
    auto client = pump_over(io_, std::move(left), TlsStream(Tls::client_with(client_key).value()),
                            {.on_open = [this](const TlsFacts&) { ++opened_; },
                             .on_end = [this](const TlsEnd& end) { ends_.push_back(end); }});
    auto server = pump_over(io_, std::move(right), TlsStream(Tls::server({}, server_key).value()),
                            {.on_open = [this](const TlsFacts&) { ++opened_; },
                             .on_end = [this](const TlsEnd& end) { ends_.push_back(end); }});
    client_ = std::move(client->plain);
    server_ = std::move(server->plain);
    client_pump_ = client->pump;
    client->pump->start();
    server->pump->start();
  }
  template <class Reached>
  bool run_until(Reached reached) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (!reached()) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      io_.run_one_for(std::chrono::milliseconds(10));
      io_.restart();
    }
    return true;
  }
  std::string receive(const UniqueFd& socket, std::size_t size) {
    std::string all;
    std::string some(64 << 10, '\0');
    run_until([&] {
      const ssize_t got = ::recv(socket.get(), some.data(), some.size(), MSG_DONTWAIT);
      if (got > 0) all.append(some, 0, static_cast<std::size_t>(got));
      return got == 0 || all.size() >= size;
    });
    return all;
  }
  // Until the pump takes no more; returns how much it took.
  std::size_t fill(const UniqueFd& socket) {
    const std::string piece(64 << 10, 'x');
    std::size_t all = 0;
    for (int idle = 0; idle < 50;) {
      const ssize_t sent = ::send(socket.get(), piece.data(), piece.size(), MSG_DONTWAIT);
      idle = sent > 0 ? 0 : idle + 1;
      all += sent > 0 ? static_cast<std::size_t>(sent) : 0;
      io_.run_for(std::chrono::milliseconds(1));
      io_.restart();
    }
    return all;
  }

  const std::string key_ = random_number();
  boost::asio::io_context io_{1};
  UniqueFd client_, server_;
  std::shared_ptr<TlsPump> client_pump_;
  int opened_ = 0;
  std::vector<TlsEnd> ends_;
};

TEST_F(TlsPumpTest, PassesBytesUntouchedBothWays) {
  connect(key_, key_);
  std::string bytes;
  for (int i = 0; i < 100'000; ++i) bytes += static_cast<char>(i * 7);
  ASSERT_EQ(::send(client_.get(), bytes.data(), bytes.size(), 0),
            static_cast<ssize_t>(bytes.size()));
  EXPECT_EQ(receive(server_, bytes.size()), bytes);
  ASSERT_EQ(::send(server_.get(), bytes.data(), bytes.size(), 0),
            static_cast<ssize_t>(bytes.size()));
  EXPECT_EQ(receive(client_, bytes.size()), bytes);
  EXPECT_EQ(opened_, 2);
}

TEST_F(TlsPumpTest, TheEndOfOneSideIsTheEndOfTheOther) {
  connect(key_, key_);
  ASSERT_EQ(::send(client_.get(), "last", 4, 0), 4);
  ::shutdown(client_.get(), SHUT_WR);
  EXPECT_EQ(receive(server_, 100), "last") << "and then the end";
  ASSERT_EQ(::send(server_.get(), "answer", 6, 0), 6);  // the other way is open
  EXPECT_EQ(receive(client_, 6), "answer");
  server_.reset();
  EXPECT_EQ(receive(client_, 100), "");
  EXPECT_TRUE(run_until([&] { return ends_.size() == 2; }));
  EXPECT_THAT(ends_, testing::Each(testing::Field(&TlsEnd::why, "")));
}

TEST_F(TlsPumpTest, WhoeverDoesNotReadHoldsUpTheOtherAndNoMemory) {
  connect(key_, key_);
  ASSERT_TRUE(run_until([&] { return opened_ == 2; }));
  const std::size_t taken = fill(client_);
  EXPECT_GT(taken, 64u << 10);
  EXPECT_LT(taken, 4u << 20) << "kernel buffers and two pumps";
  EXPECT_EQ(receive(server_, taken).size(), taken) << "nothing is lost";
  EXPECT_GT(::send(client_.get(), "x", 1, MSG_DONTWAIT), 0);
}

// It has more to be told than is taken, and the one who tells it has gone.
TEST_F(TlsPumpTest, WhoeverDoesNotReadIsClosedWhenTheOtherHasGone) {
  connect(key_, key_);
  ASSERT_TRUE(run_until([&] { return opened_ == 2; }));
  fill(client_);
  client_.reset();
  ASSERT_TRUE(run_until([&] { return !ends_.empty(); }));
  EXPECT_EQ(ends_.front().why, "it did not end within 5 s");
}

TEST_F(TlsPumpTest, AConnectionThatIsCutIsNoEnd) {
  connect(key_, key_);
  ASSERT_TRUE(run_until([&] { return opened_ == 2; }));
  client_pump_->close();
  EXPECT_EQ(receive(server_, 1), "");
  ASSERT_TRUE(run_until([&] { return !ends_.empty(); }));
  EXPECT_EQ(ends_.front().why, "its connection was reset");
  EXPECT_FALSE(ends_.front().refused);
}

TEST_F(TlsPumpTest, AFailedHandshakeSaysWhy) {
  connect(key_, random_number());
  ASSERT_TRUE(run_until([&] { return ends_.size() == 2; }));
  EXPECT_EQ(opened_, 0);
  EXPECT_THAT(ends_, testing::Each(testing::Field(&TlsEnd::why, testing::Not(""))));
  EXPECT_THAT(ends_, testing::Each(testing::Field(&TlsEnd::refused, true)));
  EXPECT_EQ(receive(client_, 1), "");
}

// Nobody reads what the server says, so what it says last lies behind that when a write fails.
TEST_F(TlsPumpTest, WhoeverIsClosedHearsWhyThoughItWasWriting) {
  auto [left, right] = sockets();
  auto client = pump_over(io_, std::move(left), TlsStream(Tls::client_with(key_).value()),
                          {.on_open = [this](const TlsFacts&) { ++opened_; },
                           .on_end = [this](const TlsEnd& end) { ends_.push_back(end); }});
  client->pump->start();
  TlsStream server(Tls::server({}, key_).value());
  std::string in, out;
  const auto say = [&, &far = right] {
    ASSERT_EQ(::send(far.get(), out.data(), out.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(out.size()));
    out.clear();
  };
  while (opened_ == 0 || !server.is_open()) {
    ASSERT_TRUE(server.receive(receive(right, 1), in, out));
    say();
    io_.run_for(std::chrono::milliseconds(1));
    io_.restart();
  }
  for (int unread = 0; unread == 0; ::ioctl(right.get(), SIOCOUTQ, &unread)) {
    server.send(std::string(10'000, 'x'), out);
    say();
    io_.run_for(std::chrono::milliseconds(1));
    io_.restart();
  }
  ASSERT_FALSE(server.receive(std::string(100, 'x'), in, out));
  say();
  right.reset();
  ASSERT_EQ(::send(client->plain.get(), "x", 1, MSG_NOSIGNAL), 1);
  ASSERT_TRUE(run_until([&] { return !ends_.empty(); }));
  EXPECT_THAT(ends_.front().why, HasSubstr("alert"));
  EXPECT_TRUE(ends_.front().refused);
}

// A handshake that was begun and does not go on.
class HalfAHandshake : public TlsPumpTest {
 protected:
  HalfAHandshake() {
    auto [near, far] = sockets();
    auto server = pump_over(io_, std::move(near), TlsStream(Tls::server({}, key_).value()),
                            {.on_end = [this](const TlsEnd& end) { ends_.push_back(end); }});
    server_ = std::move(server->plain);
    far_ = std::move(far);
    server->pump->start("\x16\x03\x01");
    io_.run_for(std::chrono::milliseconds(1));
    io_.restart();
  }
  UniqueFd far_;
};

TEST_F(HalfAHandshake, GoesWithTheServerThatHasGivenItUp) {
  server_.reset();
  EXPECT_EQ(receive(far_, 1), "");
  ASSERT_TRUE(run_until([&] { return !ends_.empty(); })) << "it holds two descriptors for ever";
  EXPECT_EQ(ends_.front().why, "");
}

TEST_F(HalfAHandshake, IsNoRefusalWhenItIsCut) {
  far_.reset();
  ASSERT_TRUE(run_until([&] { return !ends_.empty(); }));
  EXPECT_THAT(ends_.front().why, HasSubstr("closed the connection during the TLS handshake"));
  EXPECT_FALSE(ends_.front().refused) << "another try may do better";
}

}  // namespace
}  // namespace ddprun::guard
