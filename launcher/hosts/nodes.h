// All hosts of a job, as the ddprun that the user has started sees them: who has answered, who is
// out, when the workers may begin, and how it all ends.
//
// Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/hosts/host.h"
#include "launcher/hosts/messages.h"

namespace ddprun::hosts {

// Why a host is out whose ddprun got SIGKILL.
inline constexpr std::string_view kKilledThere =
    "its ddprun was killed there (SIGKILL; by whom, perhaps for lack of memory, says the host's "
    "own log: dmesg); its workers are stopped";

// What has to be done.
struct Action {
  enum class Kind {
    none,
    begin,  // send `begin` to all
    stop,   // the job cannot go on: stop all that have begun, and let the others go
  };
  Kind kind = Kind::none;
  Begin begin = {};
};

// How the user's ddprun ends.
struct Ending {
  int code = 0;
  int by_signal = 0;               // end by this signal instead
  std::vector<std::string> lines;  // for stderr; each ends with a newline
};

class Nodes {
 public:
  // `endpoint_given`: the options say where the nodes meet, so nobody waits for node 0's answer.
  Nodes(std::vector<Host> hosts, bool endpoint_given);

  // Nobody begins before all have answered: a host that is missing is known before anything runs,
  // and all that are missing are known at once.
  Action on(const Hello& hello);
  Action on(const Out& out);
  Action on(const Listening& listening);
  Action on(const Ended& ended);
  void on(Report report);
  // The user wants it to end; the first signal counts.
  void on_stop_signal(int signo);

  // Somebody was told to start workers.
  bool begun() const { return begun_; }
  // Each host has ended or is out.
  bool over() const;
  // Names of those that have not answered; at most `most`, and how many more there are.
  std::string silent(std::size_t most = 5) const;
  bool any_silent() const;
  // Names of those of which nobody knows that they have ended.
  std::string running(std::size_t most = 5) const;
  // What ending() is going to say of a failure, once each host has said its last words, has ended
  // or is out; empty before, and where there is none.
  std::vector<std::string> failure() const;
  // After over().
  Ending ending() const;

 private:
  struct State {
    bool here = false;
    std::optional<Out> out = {};
    std::optional<Ended> ended = {};
    std::optional<Report> report = {};
  };

  Action look_around();
  std::string names(bool (*wanted)(const State&), std::size_t most) const;
  std::vector<std::string> lines_of_hosts_out() const;
  std::vector<std::string> reports(bool first_hand) const;
  std::string with_hosts(const std::string& text) const;
  const State* worst() const;
  Ending ending_by_user() const;
  std::vector<std::string> second_hand(const State* bad) const;

  std::vector<Host> hosts_;
  std::vector<State> states_;
  bool endpoint_given_;
  bool begun_ = false;  // node 0
  bool all_begun_ = false;
  bool stopping_ = false;
  int stop_signal_ = 0;
};

}  // namespace ddprun::hosts
