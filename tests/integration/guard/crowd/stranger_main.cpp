// One address that means no good: does one thing to a server so many times, says how often it came
// through, and keeps what it has open until it is killed.
//
// usage: ddprun_test_stranger WHAT COUNT FROM PORT [--tls-ca FILE] [--token TOKEN]
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <deque>
#include <functional>
#include <map>
#include <string>

#include "rendezvous/guard/handshake.h"
#include "rendezvous/protocol/encode.h"
#include "rendezvous/protocol/roster_codec.h"
#include "rendezvous/protocol/roster_frames.h"
#include "tests/integration/guard/crowd/caller.h"

namespace {

using namespace ddprun;
using crowd::Caller;

struct Stranger {
  std::string from;
  std::uint16_t port = 0;
  std::shared_ptr<const guard::Tls> tls;    // how the server is spoken to; none: without
  std::shared_ptr<const guard::Tls> hello;  // whose first bytes a scan of TLS sends
  std::string token;
};

// Whether the server did what one would expect of it; `caller` is kept if it is still open.
using Deed = std::function<bool(const Stranger&, Caller&, int number)>;

// ---- kept connections ----

bool keep_one(const Stranger& who, Caller& caller, int) {
  if (who.tls && !caller.shake_hands(who.tls)) return false;
  const bool sent = caller.send("DDPR");
  caller.forget_session();
  return sent;
}

// ---- scans ----

bool scan_port(const Stranger&, Caller& caller, int) {
  caller.close();
  return true;
}

// The first thing that OpenSSL says: a hello of TLS 1.3.
std::string hello_of(const Stranger& who) {
  std::string in, out;
  guard::TlsStream session(who.hello);
  static_cast<void>(session.receive("", in, out));
  return out;
}

// The extension that offers TLS 1.3 becomes one that nobody knows, and TLS 1.2 is what is left.
std::string old_hello_of(const Stranger& who) {
  std::string hello = hello_of(who);
  const std::string versions("\x00\x2b\x00\x03\x02\x03\x04", 7);
  if (const std::size_t at = hello.find(versions); at != std::string::npos)
    hello[at] = hello[at + 1] = '\xfa';
  return hello;
}

// Begun and left, cut off in the middle, old, damaged, of no known version, and none at all. Every
// other one is left open.
bool scan_tls(const Stranger& who, Caller& caller, int number) {
  std::string bytes = number % 6 == 2 ? old_hello_of(who) : hello_of(who);
  if (number % 6 == 1) bytes.resize(bytes.size() / 2);
  if (number % 6 == 3)
    for (std::size_t at = 9; at < bytes.size(); at += 7) bytes[at] ^= static_cast<char>(number);
  if (number % 6 == 4) bytes.replace(1, 2, "\x09\x09");
  if (number % 6 == 5) bytes = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
  const bool sent = caller.send_raw(bytes);
  if (number / 6 % 2 == 0) caller.close();
  return sent;
}

// ---- guesses ----

bool guess_token(const Stranger& who, Caller& caller, int) {
  if (who.tls && !caller.shake_hands(who.tls)) return false;
  std::string bytes;
  protocol::encode_opening(bytes, protocol::kRosterProtocol);
  protocol::encode(bytes, protocol::AgentMessage{protocol::Challenge{guard::random_number()}});
  caller.send(bytes);
  protocol::FrameParser parser;
  for (std::string some = caller.receive(); !some.empty(); some = caller.receive()) {
    parser.feed(some);
    while (const auto frame = parser.next()) {
      const auto message = protocol::decode_server_message(*frame);
      if (!message) return false;
      if (std::holds_alternative<protocol::Refused>(*message)) return caller.close(), true;
      std::string answer;
      protocol::encode(answer, protocol::AgentMessage{protocol::Answer{guard::random_number()}});
      caller.send(answer);
    }
  }
  return false;
}

// ---- slow readers ----

bool ask_for_page(const Stranger& who, Caller& caller, int) {
  caller.take_little();
  if (who.tls && !caller.shake_hands(who.tls)) return false;
  return caller.send("GET / HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + who.token +
                     "\r\n\r\n");
}

// Of a common store, a value of a megabyte; the first of them sets it.
bool ask_for_value(const Stranger&, Caller& caller, int number) {
  caller.take_little();
  std::string bytes;
  protocol::encode_validate(bytes);
  if (number == 0)
    protocol::encode_key_value(bytes, protocol::Operation::kSet, "/large",
                               std::string(1 << 20, 'x'));
  protocol::encode_key(bytes, protocol::Operation::kGet, "/large");
  return caller.send(bytes);
}

// ----

const std::map<std::string, Deed> kDeeds{{"kept", keep_one},       {"port-scan", scan_port},
                                         {"tls-scan", scan_tls},   {"token", guess_token},
                                         {"reader", ask_for_page}, {"store-reader", ask_for_value}};

void do_often(const Deed& deed, const Stranger& who, int count) {
  std::deque<Caller> kept;
  int through = 0;
  for (int number = 0; number < count; ++number) {
    Caller caller(who.from, who.port);
    if (caller.is_open() && deed(who, caller, number)) ++through;
    if (caller.is_open()) kept.push_back(std::move(caller));
  }
  std::printf("%d\n", through);
  std::fflush(stdout);
  ::pause();
}

}  // namespace

int main(int argc, char** argv) {
  const auto deed = argc >= 5 ? kDeeds.find(argv[1]) : kDeeds.end();
  if (deed == kDeeds.end()) return 2;
  std::map<std::string, std::string> options;
  for (int i = 5; i + 1 < argc; i += 2) options[argv[i]] = argv[i + 1];
  // The ranks and the server come first: a crowd has processors of its own.
  ::setpriority(PRIO_PROCESS, 0, 10);
  Stranger who{.from = argv[3], .port = static_cast<std::uint16_t>(std::atoi(argv[4]))};
  who.token = options["--token"];
  if (options.contains("--tls-ca"))
    who.tls = guard::Tls::client({.ca = options["--tls-ca"]}, "127.0.0.1").value();
  who.hello = who.tls ? who.tls : guard::Tls::client_with(std::string(64, '5')).value();
  do_often(deed->second, who, std::atoi(argv[2]));
  return 0;
}
