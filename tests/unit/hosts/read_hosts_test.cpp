#include "launcher/hosts/read_hosts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "launcher/hosts/meeting_address.h"
#include "launcher/hosts/tree.h"

namespace ddprun::hosts {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> texts(const Result<std::vector<Host>>& hosts) {
  if (!hosts) return {"wrong: " + hosts.error().text};
  std::vector<std::string> all;
  for (const Host& host : *hosts) all.push_back(text_of(host));
  return all;
}

std::vector<std::string> listed(std::string_view list) {
  return texts(read_list(list));
}

std::string wrong_list(std::string_view list) {
  const auto hosts = read_list(list);
  return hosts ? "right" : hosts.error().text;
}

std::string wrong_file(std::string_view text) {
  const auto hosts = read_hostfile(text);
  return hosts ? "right" : hosts.error().text;
}

TEST(ReadList, KnowsSlotsUsersPortsAndRanges) {
  EXPECT_THAT(listed("a:8,b"), ElementsAre("a:8", "b"));
  EXPECT_THAT(listed("joe@gpu[08-10]:2"), ElementsAre("joe@gpu08:2", "joe@gpu09:2", "joe@gpu10:2"));
  EXPECT_THAT(listed("a:8:2222, b::23"), ElementsAre("a:8:2222", "b::23"));
  EXPECT_THAT(listed("[fd00::1]:4,joe@[::1]"), ElementsAre("[fd00::1]:4", "joe@[::1]"));
  const auto all = read_list("joe@[fd00::1]:4:22");
  ASSERT_TRUE(all);
  EXPECT_EQ(all->front(), (Host{.name = "fd00::1", .user = "joe", .port = 22, .slots = 4}));
}

TEST(ReadList, SaysWhatIsWrongWithIt) {
  EXPECT_THAT(wrong_list("a,,b"), HasSubstr("a name is empty"));
  EXPECT_THAT(wrong_list(""), HasSubstr("a name is empty"));
  EXPECT_THAT(wrong_list("a:"), HasSubstr("a number of workers is missing"));
  EXPECT_THAT(wrong_list("a:x"), HasSubstr("'x' is not a number of workers"));
  EXPECT_THAT(wrong_list("a:0"), HasSubstr("leave it out"));
  EXPECT_THAT(wrong_list("a:8:99999"), HasSubstr("'99999' is not a port"));
  EXPECT_THAT(wrong_list("fd00::1:1"), HasSubstr("in brackets: [fd00::1:1]"));
  EXPECT_THAT(wrong_list("::1"), HasSubstr("in brackets: [::1]"));
  EXPECT_THAT(wrong_list("[fd00::1"), HasSubstr("is not closed"));
  EXPECT_THAT(wrong_list("[fd00::1]8"), HasSubstr("a `:` has to follow"));
  EXPECT_THAT(wrong_list("ssh://a:22"), HasSubstr("it is a URL; write HOST[:SLOTS[:PORT]]"));
  EXPECT_THAT(wrong_list("@a"), HasSubstr("the user before the `@` is missing"));
  EXPECT_THAT(wrong_list("gpu[9-7]"), HasSubstr("runs backwards"));
  EXPECT_THAT(wrong_list("gpu[0-9999]"), HasSubstr("more than 4096 hosts"));
}

// It would be an option of ssh, or a command of the remote shell.
TEST(ReadList, TakesNoNameThatAShellOrSshMightObey) {
  for (const char* list : {"-oProxyCommand=x", "a;b", "$(x)", "a b", "-l@a", "a`b`", "a\nb"})
    EXPECT_NE(wrong_list(list), "right") << list;
}

TEST(ReadHostfile, KnowsTheFormsOfOpenMpiDeepSpeedAndMpich) {
  const auto hosts = read_hostfile(
      "# a comment\n"
      "gpu01 slots=8\n"
      "\n"
      "  gpu02\tslots=4 max_slots=8  # and one behind\r\n"
      "gpu03:2\n"
      "joe@gpu[04-05] slots=1 port=2222\n"
      "gpu06 user=ann max-slots=4");
  EXPECT_THAT(texts(hosts), ElementsAre("gpu01:8", "gpu02:4", "gpu03:2", "joe@gpu04:1:2222",
                                        "joe@gpu05:1:2222", "ann@gpu06"));
}

TEST(ReadHostfile, NamesTheLineThatIsWrong) {
  EXPECT_EQ(wrong_file("a slots=8\nb slot=8\n"),
            "line 2: 'slot=8' is not known here; did you mean slots?");
  EXPECT_THAT(wrong_file("a 8"), HasSubstr("line 1: '8': one host a line, and behind it slots=N"));
  EXPECT_THAT(wrong_file("a,b"), HasSubstr("one host a line"));
  EXPECT_THAT(wrong_file("^a"), HasSubstr("Open MPI's alone"));
  EXPECT_THAT(wrong_file("+n0"), HasSubstr("Open MPI's alone"));
  EXPECT_THAT(wrong_file("a slots=8 max_slots=4"), HasSubstr("contradict each other"));
  EXPECT_THAT(wrong_file("a:4 slots=2"), HasSubstr("'a:4' and slots=2 contradict each other"));
  EXPECT_EQ(wrong_file("\xef\xbb\xbf"
                       "a:4 slots=4"),
            "right");
  EXPECT_THAT(wrong_file("a slots = 8"), HasSubstr("'slots': write slots=N without blanks"));
  EXPECT_THAT(wrong_file("a slots=many"), HasSubstr("'many' is not a number of workers"));
  EXPECT_THAT(wrong_file("a port=0"), HasSubstr("'0' is not a port"));
  EXPECT_THAT(wrong_file("# nothing\n\n"), HasSubstr("it names no host"));
}

TEST(EachOnce, AddsUpWhatIsThereTwice) {
  EXPECT_THAT(texts(each_once(*read_list("a:2,b:1,a:3"))), ElementsAre("a:5", "b:1"));
  // PBS_NODEFILE: a line for each worker.
  EXPECT_THAT(texts(each_once(*read_list("a,a,b"))), ElementsAre("a:2", "b:1"));
  EXPECT_THAT(texts(each_once(*read_list("a,b"))), ElementsAre("a", "b"));
  // Containers of one machine.
  EXPECT_THAT(texts(each_once(*read_list("a::1,a::2"))), ElementsAre("a::1", "a::2"));
}

TEST(EachOnce, RefusesWhatContradictsItself) {
  EXPECT_THAT(texts(each_once(*read_list("joe@a,ann@a"))),
              ElementsAre(HasSubstr("one host, two users")));
  EXPECT_THAT(texts(each_once(*read_list("a:2,a"))),
              ElementsAre(HasSubstr("a:2 and a: write the slots each time")));
}

TEST(Branches, AreOfOneSizeAndLeaveNobodyOut) {
  EXPECT_THAT(branches(0, 3), ElementsAre(Branch{0, 1}, Branch{1, 2}, Branch{2, 3}));
  EXPECT_THAT(branches(2, 2), IsEmpty());
  EXPECT_THAT(branches(1, 8, 3), ElementsAre(Branch{1, 4}, Branch{4, 6}, Branch{6, 8}));
  for (const std::size_t hosts : {1u, 31u, 32u, 33u, 40u, 100u, 1025u, 4096u}) {
    const auto all = branches(0, hosts);
    EXPECT_LE(all.size(), kWidth);
    EXPECT_EQ(all.front().begin, 0u);
    EXPECT_EQ(all.back().end, hosts);
    for (std::size_t i = 0; i + 1 < all.size(); ++i) {
      EXPECT_EQ(all[i].end, all[i + 1].begin);
      EXPECT_LE(all[i].end - all[i].begin, all.back().end - all.back().begin + 1);
    }
  }
}

TEST(MeetingAddress, IsTheOneByWhichTheHostWasReached) {
  EXPECT_EQ(meeting_address("127.0.0.2", "", "10.0.0.1"), "127.0.0.2");
  EXPECT_EQ(meeting_address("fd00::1", "", ""), "fd00::1");
  EXPECT_EQ(meeting_address("gpu01", "10.0.0.9 4000 10.0.0.1 22", "192.168.0.1"), "10.0.0.1");
  EXPECT_EQ(meeting_address("gpu01", "::1 4000 ::1 22", "192.168.0.1"), "192.168.0.1");
  EXPECT_EQ(meeting_address("gpu01", "fe80::2%eth0 4 fe80::1%eth0 22", "192.168.0.1"),
            "192.168.0.1");
  EXPECT_EQ(meeting_address("gpu01", "", ""), "127.0.0.1");
}

}  // namespace
}  // namespace ddprun::hosts
