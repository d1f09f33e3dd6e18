// Bad input for every option. The cases are made from the option table, so that a new option cannot
// be forgotten: one without an entry here fails.
#include <gmock/gmock.h>

#include <map>

#include "launcher/cli/options.h"
#include "tests/unit/cli/parsing.h"

namespace ddprun::cli {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

struct Values {
  Words wrong;       // of a wrong type, out of range, wrong in form
  std::string good;  // one that is taken; "" where none is
};

const Words kNoTime{"x", "-1", "nan", "inf", "1s", "0x10", "1e99", "4,5", "99999999999"};
const Words kNoStreams{"x", "4", "-1", "0:4", "1:", ":1", "a:1", "0:1,", "3-1:2"};
const Words kNoBoolean{"yes", "on", "2", "-1", "TRUE", "0.0"};

const std::map<std::string_view, Values>& values() {
  static const std::map<std::string_view, Values> all{
      {"nproc-per-node", {{"x", "0", "-1", "1.5", "16385", "gpu:4", "xpu", "4 "}, "2"}},
      {"nnodes", {{"x", "0", "-1", "1:", ":1", "2:1", "1:1:1", "1.0"}, "1"}},
      {"node-rank", {{"x", "-1", "1", "0.0", "99999999999"}, "0"}},
      {"max-restarts", {{"x", "-1", "1.5", "1000001", "99999999999"}, "3"}},
      {"role", {{}, "trainer"}},
      {"chdir", {{}, "/"}},
      {"master-addr", {{"a b", "a:1"}, "localhost"}},
      {"master-port", {{"x", "-1", "65536", "80.0", "0x10", "29500 "}, "29500"}},
      {"rdzv-id", {{}, "7"}},
      {"rdzv-backend", {{"x", "etcd-v2", "C10D", "c10"}, "static"}},
      {"rdzv-endpoint",
       {{"host", "30000", ":1", "a:x", "a:70000", "[::1", "a/b:1"}, "localhost:1"}},
      {"rdzv-conf",
       {{"x", "a=", "=1", "a=1,", ",a=1", "timeout=x", "join_timeout=0", "is_host=maybe",
         "keep_alive_max_attempt=0", "grow=2", "last_call_timeout=-1"},
        "timeout=5"}},
      {"local-addr", {{"a b", "a:1", "[::1", "a/b"}, "127.0.0.1"}},
      {"cluster", {{"x", "Slurm", "k8s"}, "none"}},
      // What the lists hold is read with the file: tests/unit/hosts.
      {"hosts", {{}, "a,b"}},
      {"hostfile", {{}, "hosts"}},
      {"export", {{"=x"}, ""}},
      {"rsh", {{"'", " "}, ""}},
      {"remote-ddprun", {{}, ""}},
      {"device", {{"x", "gpu", "CPU", "0"}, "cpu"}},
      {"simulate-gpus", {{"x", "-1", "1025", "1.5", "99999999999"}, "2"}},
      {"bind", {{"x", "gpu", "core_complex", "0"}, "node"}},
      {"threads", {{"x", "0", "-1", "1.5", "16385", "AUTO"}, "2"}},
      {"shutdown-timeout", {kNoTime, "5"}},
      {"signals-to-handle",
       {{"x", "SIGX", "0", "65", "-1", "SIGTERM,", "SIGKILL", "CHLD"}, "SIGTERM"}},
      {"timeout", {kNoTime, "5"}},
      {"exit-grace", {kNoTime, "5"}},
      {"progress-timeout", {kNoTime, "5"}},
      {"restart-backoff", {kNoTime, "5"}},
      {"log-dir", {{}, "logs"}},
      {"redirects", {kNoStreams, "3"}},
      {"tee", {kNoStreams, "3"}},
      {"local-ranks-filter", {{"x", "-1", "0,", "2-1", "0;1", "1.5"}, "0"}},
      {"log-line-prefix-template", {{"${x}", "$rnk", "${rank}${}"}, "${rank}"}},
      {"duplicate-stdout-filters", {{}, "a"}},
      {"duplicate-stderr-filters", {{}, "a"}},
      {"output", {{"x", "PTY", "tty", "file"}, "pipe"}},
      {"color", {{"x", "yes", "1", "off"}, "never"}},
      {"stdin", {{"x", "-1", "1.5", "all", "99999999999"}, "0"}},
      {"wrap", {{"x", "gdb --args", "0:", "x:gdb", "0:'", "-1:gdb"}, "0:gdb"}},
      {"report", {{}, "r.json"}},
      {"events", {{}, "e.jsonl"}},
      {"print-completion", {{"x", "sh", "BASH"}, ""}},
      {"pass-local-rank", {{"x", "rank", "2"}, "1"}},
      {"monitor-interval", {{"x", "1s", "1,5"}, "5"}},
      {"start-method", {{"x", "thread", "SPAWN"}, "fork"}},
      {"event-log-handler", {{}, "null"}},
      {"logs-specs", {{"x", "default"}, ""}},
      {"token-file", {{}, "t"}},
      {"tls-ca", {{}, "ca.pem"}},
      {"tls-cert", {{}, "c.pem"}},
      {"tls-key", {{}, "c.key"}},
      {"token", {{"x", "secret"}, ""}},
  };
  return all;
}

bool ready(const Option& option) {
  return option.availability == Availability::ready;
}

// Names the option, says something about the value, and ends without a newline in the middle.
void expect_refusal(const std::string& error, const std::string& label) {
  EXPECT_THAT(error, StartsWith("ddprun: " + label));
  EXPECT_THAT(error,
              AnyOf(HasSubstr("write "), HasSubstr(" is not one of "), HasSubstr(" there is "),
                    HasSubstr("did you mean "), HasSubstr(" is not "), HasSubstr("leave it out"),
                    HasSubstr("takes no value")));
}

TEST(BadValues, EveryOptionHasSome) {
  for (const Option& option : options()) {
    if (!ready(option) || option.metavar.empty()) continue;
    EXPECT_TRUE(values().contains(option.name)) << "--" << option.name << " has no bad values here";
  }
  for (const auto& [name, unused] : values())
    EXPECT_NE(find_option(name), nullptr) << name << " is no option any more";
}

TEST(BadValues, AreNamedOnTheCommandLine) {
  for (const auto& [name, value] : values()) {
    const std::string option = "--" + std::string(name);
    for (const std::string& wrong : value.wrong) {
      expect_refusal(error_of({option + "=" + wrong, "p"}), option + ": ");
      if (find_option(name)->optional_value()) continue;
      EXPECT_EQ(error_of({option, wrong, "p"}), error_of({option + "=" + wrong, "p"}));
    }
  }
}

TEST(BadValues, AreNamedByTheirVariable) {
  for (const auto& [name, value] : values()) {
    const std::string variable = variable_of(*find_option(name));
    if (variable.empty()) continue;
    for (const std::string& wrong : value.wrong)
      expect_refusal(error_of({"p"}, {variable + "=" + wrong}), variable + ": ");
  }
}

TEST(BadValues, AnEmptyOneIsNamedToo) {
  for (const auto& [name, value] : values()) {
    const Option& option = *find_option(name);
    if (option.free_text && option.name != "wrap") continue;  // empty means nothing there
    const std::string text = "--" + std::string(name);
    expect_refusal(error_of({text + "=", "p"}), text + ": ");
    const std::string variable = variable_of(option);
    if (!variable.empty()) expect_refusal(error_of({"p"}, {variable + "="}), variable + ": ");
  }
}

TEST(BadValues, AMissingOneIsNamedToo) {
  for (const Option& option : options()) {
    if (!option.takes_value()) continue;
    const std::string text = "--" + std::string(option.name);
    EXPECT_THAT(error_of({text}), AllOf(HasSubstr(text + ": its value is missing; write " + text)));
    EXPECT_THAT(error_of({text, "--standalone", "p"}), HasSubstr(text + ": its value is missing"));
  }
}

TEST(BadValues, TheLastOfTwoCounts) {
  for (const auto& [name, value] : values()) {
    const Option& option = *find_option(name);
    if (value.good.empty() || value.wrong.empty() || option.repeatable) continue;
    const std::string text = "--" + std::string(name);
    const std::string good = text + "=" + value.good, wrong = text + "=" + value.wrong.front();
    EXPECT_EQ(error_of({wrong, good, "p"}), "") << name;
    EXPECT_NE(error_of({good, wrong, "p"}), "") << name;
  }
}

TEST(BadValues, GoodOnesAreTakenFromBothPlaces) {
  for (const auto& [name, value] : values()) {
    if (value.good.empty()) continue;
    const Option& option = *find_option(name);
    EXPECT_EQ(error_of({"--" + std::string(name) + "=" + value.good, "p"}), "");
    const std::string variable = variable_of(option);
    if (!variable.empty()) {
      EXPECT_EQ(error_of({"p"}, {variable + "=" + value.good}), "");
    }
  }
}

TEST(BadValues, AFlagTakesNone) {
  for (const Option& option : options()) {
    if (!option.metavar.empty()) continue;
    const std::string text = "--" + std::string(option.name);
    EXPECT_EQ(error_of({text + "=1", "p"}),
              "ddprun: " + text + " takes no value, but '1' was given");
    const std::string variable = variable_of(option);
    if (variable.empty()) continue;
    for (const std::string& wrong : kNoBoolean)
      EXPECT_EQ(error_of({"p"}, {variable + "=" + wrong}),
                "ddprun: " + variable + ": '" + wrong + "' is not one of 0, 1, true and false");
    EXPECT_EQ(error_of({"p"}, {variable + "="}),
              "ddprun: " + variable + ": the value is empty; write 0 or 1");
  }
}

TEST(BadValues, AnUnexpandedOneIsASlip) {
  for (const auto& [name, value] : values()) {
    if (find_option(name)->free_text || find_option(name)->ends_the_scan()) continue;
    const std::string text = "--" + std::string(name);
    EXPECT_THAT(error_of({text + "=$(" + "X)", "p"}),
                HasSubstr(text + ": '$(X)' was not replaced"));
    EXPECT_THAT(error_of({text + "=1--tee", "p"}), HasSubstr(text + ": '1--tee' is more than one"));
  }
}

TEST(BadValues, OptionsOfLaterVersionsAreRefusedByName) {
  for (const Option& option : options()) {
    if (ready(option) || option.never_there()) continue;
    const std::string text = "--" + std::string(option.name);
    EXPECT_EQ(error_of({text + "=x", "p"}),
              "ddprun: " + text + " is not available yet in this version of ddprun");
  }
}

}  // namespace
}  // namespace ddprun::cli
