#include "launcher/hosts/nodes.h"

#include <signal.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "launcher/process/exit_codes.h"
#include "launcher/report/report.h"

namespace ddprun::hosts {
namespace {

constexpr std::size_t kMostLines = 20;   // of hosts that are out
constexpr std::size_t kMostReports = 3;  // of reports that differ
constexpr std::string_view kOurs = "ddprun: ";

bool is_of_a_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == '.';
}

bool has_the_name(std::string_view text, std::string_view name) {
  for (auto at = text.find(name); at != text.npos; at = text.find(name, at + 1)) {
    const auto end = at + name.size();
    if ((at == 0 || !is_of_a_name(text[at - 1])) &&
        (end == text.size() || !is_of_a_name(text[end])))
      return true;
  }
  return false;
}

}  // namespace

Nodes::Nodes(std::vector<Host> hosts, bool endpoint_given)
    : hosts_(std::move(hosts)), states_(hosts_.size()), endpoint_given_(endpoint_given) {}

Action Nodes::on(const Hello& hello) {
  states_.at(static_cast<std::size_t>(hello.index)).here = true;
  return look_around();
}

Action Nodes::on(const Out& out) {
  State& state = states_.at(static_cast<std::size_t>(out.index));
  // Whoever has ended may hang up.
  if (state.out || state.ended) return {};
  state.out = out;
  return look_around();
}

Action Nodes::on(const Listening& listening) {
  if (endpoint_given_ || all_begun_ || stopping_) return {};
  all_begun_ = true;
  return {Action::Kind::begin,
          {.for_others = true, .host = listening.host, .port = listening.port}};
}

Action Nodes::on(const Ended& ended) {
  State& state = states_.at(static_cast<std::size_t>(ended.index));
  state.ended = ended;
  // No ddprun ends so by itself.
  if (ended.by_signal == SIGKILL && !stopping_ && !state.out)
    state.out = Out{.index = ended.index, .before_hello = false, .why = std::string(kKilledThere)};
  return look_around();
}

void Nodes::on(Report report) {
  State& state = states_.at(static_cast<std::size_t>(report.index));
  // What follows is how it ends, not why.
  if (!state.out) state.report = std::move(report);
}

void Nodes::on_stop_signal(int signo) {
  if (stop_signal_ == 0) stop_signal_ = signo;
  stopping_ = true;
}

Action Nodes::look_around() {
  if (stopping_ || any_silent()) return {};
  const bool out = std::ranges::any_of(states_, [](const State& s) { return s.out.has_value(); });
  // Without node 0 the others have nowhere to go.
  const bool first_gone = begun_ && !all_begun_ && states_.front().ended;
  if (out || first_gone) {
    stopping_ = true;
    return {Action::Kind::stop, {}};
  }
  if (std::exchange(begun_, true)) return {};
  all_begun_ = endpoint_given_ || states_.size() == 1;
  return {Action::Kind::begin, {.for_first = true, .for_others = endpoint_given_}};
}

bool Nodes::over() const {
  return std::ranges::all_of(states_, [](const State& s) { return s.out || s.ended; });
}

bool Nodes::any_silent() const {
  return std::ranges::any_of(states_, [](const State& s) { return !s.here && !s.out && !s.ended; });
}

std::string Nodes::names(bool (*wanted)(const State&), std::size_t most) const {
  std::string text;
  std::size_t count = 0;
  for (std::size_t i = 0; i < states_.size(); ++i) {
    if (!wanted(states_[i]) || ++count > most) continue;
    text += (text.empty() ? "" : ", ") + hosts_[i].name;
  }
  return count > most ? text + " and " + std::to_string(count - most) + " more" : text;
}

std::string Nodes::silent(std::size_t most) const {
  return names([](const State& s) { return !s.here && !s.out && !s.ended; }, most);
}

std::string Nodes::running(std::size_t most) const {
  return names([](const State& s) { return !s.out && !s.ended; }, most);
}

std::vector<std::string> Nodes::lines_of_hosts_out() const {
  std::vector<std::string> lines;
  std::size_t count = 0;
  for (std::size_t i = 0; i < states_.size(); ++i)
    if (states_[i].out && ++count <= kMostLines)
      lines.push_back("ddprun: host " + hosts_[i].name + ": " + states_[i].out->why + "\n");
  if (count > kMostLines)
    lines.push_back("ddprun: and " + std::to_string(count - kMostLines) + " more hosts\n");
  if (count > 0 && !begun_)
    lines.push_back("ddprun: " + std::to_string(count) + " of " + std::to_string(states_.size()) +
                    " hosts cannot take part, so nothing was started\n");
  return lines;
}

// What several hosts say alike is said once.
std::vector<std::string> Nodes::reports(bool first_hand) const {
  std::vector<std::string> texts;
  for (const State& state : states_) {
    if (!state.report || state.report->first_hand != first_hand) continue;
    const std::string text = first_hand ? with_hosts(state.report->text) : state.report->text;
    if (std::ranges::find(texts, text) == texts.end() && texts.size() < kMostReports)
      texts.push_back(text);
  }
  return texts;
}

// That a program is missing, for one, is said in the same words everywhere.
std::string Nodes::with_hosts(const std::string& text) const {
  std::vector<std::string> who;
  for (std::size_t i = 0; i < states_.size(); ++i) {
    if (has_the_name(text, hosts_[i].name)) return text;
    if (states_[i].report && states_[i].report->text == text) who.push_back(hosts_[i].name);
  }
  if (who.size() == states_.size() || !text.starts_with(kOurs)) return text;
  const std::string more =
      who.size() > kMostLines ? " and " + std::to_string(who.size() - kMostLines) + " more" : "";
  std::string hosts = who.size() == 1 ? "host" : "hosts";
  for (std::size_t i = 0; i < std::min(who.size(), kMostLines); ++i)
    hosts += (i == 0 ? " " : ", ") + who[i];
  return std::string(kOurs) + hosts + more + ": " + text.substr(kOurs.size());
}

// The one whose end is the job's: where it happened, or else the first that ended badly.
const Nodes::State* Nodes::worst() const {
  const State* found = nullptr;
  for (const State& state : states_) {
    if (!state.ended || (state.ended->code == 0 && state.ended->by_signal == 0)) continue;
    if (state.report && state.report->first_hand) return &state;
    if (found == nullptr) found = &state;
  }
  return found;
}

std::vector<std::string> Nodes::failure() const {
  const bool told =
      std::ranges::all_of(states_, [](const State& s) { return s.report || s.ended || s.out; });
  std::vector<std::string> first_hand = reports(true);
  if (!told || (stop_signal_ != 0 && first_hand.empty())) return {};
  std::vector<std::string> lines = lines_of_hosts_out();
  std::ranges::move(first_hand, std::back_inserter(lines));
  return lines;
}

Ending Nodes::ending_by_user() const {
  const auto lost =
      std::ranges::count_if(states_, [](const State& s) { return s.out && !s.out->before_hello; });
  std::string line = "ddprun: stopped by " + report::signal_name(stop_signal_);
  if (!begun_) line += " before anything was started";
  if (lost > 0)
    line += "; the connection to " + std::to_string(lost) + " of " +
            std::to_string(states_.size()) + " hosts was lost";
  return {.code = 128 + stop_signal_, .by_signal = stop_signal_, .lines = {line + "\n"}};
}

// Who has only heard of the end says no more than who was there.
std::vector<std::string> Nodes::second_hand(const State* bad) const {
  std::vector<std::string> heard = reports(false);
  if (bad == nullptr) return heard;
  if (heard.size() > 1) heard.resize(1);
  if (!heard.empty()) return heard;
  const auto index = static_cast<std::size_t>(bad - states_.data());
  return {"ddprun: host " + hosts_[index].name + ": its ddprun ended with " +
          std::to_string(bad->ended->code) + " without a word\n"};
}

Ending Nodes::ending() const {
  if (stop_signal_ != 0 && reports(true).empty()) return ending_by_user();
  Ending ending{.lines = failure()};
  const bool out = std::ranges::any_of(states_, [](const State& s) { return s.out.has_value(); });
  const State* bad = worst();
  if (out) {
    ending.code = process::kExitCannotWork;
  } else if (bad != nullptr) {
    ending.code = bad->ended->code;
    ending.by_signal = bad->ended->by_signal;
  }
  if (ending.lines.empty()) ending.lines = second_hand(bad);
  return ending;
}

}  // namespace ddprun::hosts
