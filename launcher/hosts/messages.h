// What ddpruns tell each other through a remote shell: orders go down on stdin, what happens comes
// up on stdout.
//
// Pure. Only ddpruns of one version talk to each other, so a message may look different in the
// next one; the first bytes, kGreeting, and what Decoder::version() reads may not. Texts are bytes
// as they came, UTF-8 or not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "launcher/hosts/host.h"
#include "rendezvous/base/result.h"

namespace ddprun::hosts {

// What the ddprun on the other host writes first; login scripts may have written before it.
inline constexpr std::string_view kGreeting = "\nddprun-hosts 1\n";

// ---- down ----

// The order to start, for a host and those that it has to start in its turn.
struct Start {
  std::string version;       // of the ddprun that gives the order; the first field in every version
  std::vector<Node> branch;  // the receiver, then those that it has to start; at least one
  int nodes = 0;             // in the whole list
  std::string directory;     // absolute; where the job runs
  std::vector<std::string> options;      // of ddprun, the same for all nodes
  std::vector<std::string> files;        // --report and --events, which each node has for itself
  std::vector<std::string> command;      // the program, with a `--` in front if the user wrote one
  std::vector<std::string> environment;  // "NAME=value", in the place of what is there
  std::vector<std::string> shell_words;  // RemoteShell
  std::string remote_ddprun;
  std::string own_path;
  std::uint32_t patience_ms = 0;  // for the hosts of the branch to answer
  std::uint32_t silence_ms = 0;   // without a Ping for so long whoever has started us is gone
  std::uint32_t grace_ms = 0;     // for workers to end by themselves
  std::uint32_t credit = 0;       // of each stream of each node, see flow.h

  friend bool operator==(const Start&, const Start&) = default;
};

// All hosts are there: go. Without a host node 0 listens where it likes, and all go where the
// options say.
struct Begin {
  bool for_first = false;   // node 0
  bool for_others = false;  // all but node 0
  std::string host;
  std::uint16_t port = 0;

  friend bool operator==(const Begin&, const Begin&) = default;
};

struct Signal {
  int signo = 0;

  friend bool operator==(const Signal&, const Signal&) = default;
};

// The one who gives orders is still there. A host that has lost its power closes no connection.
struct Ping {
  friend bool operator==(const Ping&, const Ping&) = default;
};

// Node `index` may send so much more of its lines for `stream`.
struct Credit {
  int index = 0;
  int stream = 1;
  std::uint32_t bytes = 0;

  friend bool operator==(const Credit&, const Credit&) = default;
};

// ---- up; `index` is the place of the host in the whole list ----

// The order was understood, and can be carried out.
struct Hello {
  int index = 0;

  friend bool operator==(const Hello&, const Hello&) = default;
};

// Whole lines for the user's stdout (1) or stderr (2).
struct Lines {
  int index = 0;
  int stream = 1;
  std::string text;

  friend bool operator==(const Lines&, const Lines&) = default;
};

// Where the nodes meet: what node 0 has got from the system.
struct Listening {
  int index = 0;
  std::string host;
  std::uint16_t port = 0;

  friend bool operator==(const Listening&, const Listening&) = default;
};

// The last words of a node. `first_hand`: what has ended the job happened there.
struct Report {
  int index = 0;
  bool first_hand = false;
  std::string text;  // ends with a newline

  friend bool operator==(const Report&, const Report&) = default;
};

// The ddprun of a node has ended.
struct Ended {
  int index = 0;
  int code = 0;       // or 128 + n beside `by_signal`
  int by_signal = 0;  // 0: it exited

  friend bool operator==(const Ended&, const Ended&) = default;
};

// A host that is out: it could not be reached or could not begin (`before_hello`), or the
// connection to it was lost.
struct Out {
  int index = 0;
  bool before_hello = true;
  std::string why;  // one line that says what to do, without the host

  friend bool operator==(const Out&, const Out&) = default;
};

using Message =
    std::variant<Start, Begin, Signal, Hello, Lines, Listening, Report, Ended, Out, Ping, Credit>;

// The bytes of a message, its length in front.
std::string encode(const Message& message);

// Takes the bytes of a stream apart.
class Decoder {
 public:
  void feed(std::string_view bytes) { buffer_ += bytes; }
  // The next message; none while it is not whole. An Error where the bytes are none of ours:
  // nothing can be read from this stream any more.
  Result<std::optional<Message>> next();
  // Where next() has failed at the order of another version: which that is. Else empty.
  const std::string& version() const { return version_; }

 private:
  std::string buffer_;
  std::size_t taken_ = 0;
  std::string version_;
};

}  // namespace ddprun::hosts
