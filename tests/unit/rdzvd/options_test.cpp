// rdzvd's command line.
#include "rendezvous/rdzvd/options.h"

#include <gmock/gmock.h>

namespace ddprun::rdzvd {
namespace {

using testing::HasSubstr;

TEST(Options, HaveDefaultsAndTakeBothSpellings) {
  const auto none = parse_options({});
  ASSERT_TRUE(none);
  EXPECT_EQ(none->listen.host, "");
  EXPECT_EQ(none->listen.port, 29400);
  EXPECT_TRUE(none->http);
  EXPECT_EQ(none->store, std::nullopt) << "on unless there is a token";
  const auto all = parse_options({"--listen=10.0.0.1:0", "--http", "off", "--store=off",
                                  "--max-connections", "5", "--max-memory=2G",
                                  "--handshake-timeout", "0.25", "--log-level", "debug"});
  ASSERT_TRUE(all) << all.error().text;
  EXPECT_EQ(all->listen.host, "10.0.0.1");
  EXPECT_EQ(all->listen.port, 0);
  EXPECT_FALSE(all->http);
  EXPECT_EQ(all->store, false);
  EXPECT_EQ(all->max_connections, 5u);
  EXPECT_EQ(all->max_memory_bytes, std::uint64_t{2} << 30);
  EXPECT_EQ(all->handshake_timeout.count(), 250);
  EXPECT_EQ(all->log_level, "debug");
}

TEST(Options, AStateHasAPlaceAndALease) {
  const auto all =
      parse_options({"--state", "etcd://h1:1,h2:2/p", "--advertise", "head", "--state-lease=7"});
  ASSERT_TRUE(all) << all.error().text;
  EXPECT_EQ(all->state->members.size(), 2u);
  EXPECT_EQ(all->state->prefix, "/p/");
  EXPECT_EQ(all->advertise->host, "head");
  EXPECT_EQ(all->advertise->port, 0) << "the one that is listened on";
  EXPECT_EQ(all->lease, std::chrono::seconds(7));
  EXPECT_EQ(parse_options({"--state=etcd://h", "--advertise=[fd00::1]:5"})->advertise->port, 5);
}

TEST(Options, AStateThatCannotBeIsRefused) {
  const auto why = [](std::vector<std::string> words) {
    const auto options = parse_options(words);
    return options ? "taken" : options.error().text;
  };
  EXPECT_THAT(why({"--state", "etcds://h"}),
              HasSubstr("--state: 'etcds://h': rdzvd does not speak"));
  EXPECT_THAT(why({"--advertise", "h"}), HasSubstr("give --state"));
  EXPECT_THAT(why({"--state-lease=7"}), HasSubstr("--state-lease is for several rdzvd"));
  EXPECT_THAT(why({"--state=etcd://h", "--advertise=0.0.0.0:1"}),
              HasSubstr("no address of one host"));
  EXPECT_THAT(why({"--state=etcd://h", "--advertise=:1"}), HasSubstr("no address of one host"));
  EXPECT_THAT(why({"--state=etcd://h", "--store=on"}), HasSubstr("leave it out"));
  EXPECT_THAT(why({"--state-lease=1"}), HasSubstr("from 2 to 60"));
}

TEST(Options, AnAddressThatLeadsNodesToThemselvesIsWarnedOf) {
  for (const char* host : {"127.0.0.1", "127.0.0.9", "::1", "localhost"})
    EXPECT_THAT(warning_of_advertised({host, 5}), HasSubstr(":5 look for this rdzvd on themselves"))
        << host;
  for (const char* host : {"10.0.0.1", "fd00::1", "head1"})
    EXPECT_EQ(warning_of_advertised({host, 5}), "");
}

TEST(Options, DefaultsAreWhatTheTextsSay) {
  std::vector<std::string> words{"--state=etcd://h"};  // without which there is no lease
  for (const OptionText& option : option_texts()) {
    EXPECT_THAT(help_text(), HasSubstr("  --" + std::string(option.name)));
    if (option.metavar.empty() || option.fallback.empty()) continue;
    words.push_back("--" + std::string(option.name));
    words.emplace_back(option.fallback);
  }
  const auto said = parse_options(words);
  const auto none = parse_options({});
  ASSERT_TRUE(said && none);
  EXPECT_EQ(said->listen.port, none->listen.port);
  EXPECT_EQ(said->http, none->http);
  EXPECT_EQ(said->store, none->store);
  EXPECT_EQ(said->max_connections, none->max_connections);
  EXPECT_EQ(said->max_memory_bytes, none->max_memory_bytes);
  EXPECT_EQ(said->handshake_timeout, none->handshake_timeout);
  EXPECT_EQ(said->log_level, none->log_level);
  EXPECT_EQ(said->lease, kDefaultLease);
}

TEST(Options, AnotherNameOfAnOptionIsUnderstood) {
  const std::vector<std::pair<const char*, const char*>> meant{
      {"--port", "--listen"},      {"--bind", "--listen"},
      {"--host", "--listen"},      {"--lisen", "--listen"},
      {"--htp", "--http"},         {"--max-conections", "--max-connections"},
      {"--memory", "--max-memory"}};
  for (const auto& [wrong, right] : meant)
    EXPECT_EQ(parse_options({wrong, "1"}).error().text, "there is no option " + std::string(wrong) +
                                                            "; did you mean " + right +
                                                            "? See rdzvd --help");
  EXPECT_EQ(parse_options({"--xyz"}).error().text, "there is no option --xyz; see rdzvd --help");
  EXPECT_EQ(parse_options({"29400"}).error().text,
            "'29400' belongs to no option; see rdzvd --help");
}

TEST(Options, MistakesNameTheOption) {
  for (const char* size : {"", "G", "1", "63M", "-1", "1.5G", "99999999999G"})
    EXPECT_THAT(parse_options({"--max-memory", size}).error().text, HasSubstr("--max-memory is"))
        << size;
  for (const char* word : {"--lis", "-l", "--http", "word", "--help=1"})
    EXPECT_THAT(parse_options({word}).error().text, HasSubstr("ee rdzvd --help")) << word;
  EXPECT_EQ(parse_options({"--x\x1b[2J"}).error().text,
            "there is no option --x\\x1b[2J; see rdzvd --help");
}

}  // namespace
}  // namespace ddprun::rdzvd
