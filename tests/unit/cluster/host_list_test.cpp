// Lists of hosts as Slurm writes them, good and hostile.
#include "launcher/cluster/host_list.h"

#include <gmock/gmock.h>

namespace ddprun::cluster {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

using Hosts = std::vector<std::string>;

Hosts hosts_of(const std::string& text) {
  const Result<Hosts> hosts = read_host_list(text);
  if (hosts) return *hosts;
  ADD_FAILURE() << hosts.error().text;
  return {};
}

std::string error_of(const std::string& text) {
  const Result<Hosts> hosts = read_host_list(text);
  return hosts ? "" : hosts.error().text;
}

TEST(HostList, StandsForNames) {
  const std::vector<std::pair<std::string, Hosts>> table{
      {"n1", {"n1"}},
      {"a,b", {"a", "b"}},
      {"login1,gpu[01-03,07]", {"login1", "gpu01", "gpu02", "gpu03", "gpu07"}},
      {"gpu[01-04,07],login1", {"gpu01", "gpu02", "gpu03", "gpu04", "gpu07", "login1"}},
      {"n[8-11]", {"n8", "n9", "n10", "n11"}},
      {"n[08-11]", {"n08", "n09", "n10", "n11"}},
      {"n[099-101]", {"n099", "n100", "n101"}},
      {"n[5]", {"n5"}},
      {"n[1-2]-ib", {"n1-ib", "n2-ib"}},
      {"rack[1-2]n[01-02]", {"rack1n01", "rack1n02", "rack2n01", "rack2n02"}},
      {"nid[000012,000014]", {"nid000012", "nid000014"}},
      {"a-b.c[0-1].example", {"a-b.c0.example", "a-b.c1.example"}},
      {"n[2,1]", {"n2", "n1"}},
  };
  for (const auto& [text, hosts] : table) EXPECT_EQ(hosts_of(text), hosts) << text;
}

TEST(HostList, NamesThePartThatIsWrong) {
  for (const char* text : {"n[1-2", "n1-2]", "n[1[2]]", "n[[1]", "]n[", "a,n[1"})
    EXPECT_THAT(error_of(text), HasSubstr("its brackets do not match")) << text;
  for (const char* text : {"", ",", "a,", ",a", "a,,b"})
    EXPECT_THAT(error_of(text), HasSubstr("a name is empty")) << text;
  for (const char* text : {"n[]", "n[a-b]", "n[1-]", "n[-1]", "n[1-2-3]", "n[1,]", "n[1 2]",
                           "n[99999999999999999999]"})
    EXPECT_THAT(error_of(text), HasSubstr("holds numbers and ranges")) << text;
  EXPECT_EQ(error_of("n[4-2]"), "'4-2' is not a list of hosts: the range runs backwards");
}

TEST(HostList, IsBounded) {
  EXPECT_THAT(hosts_of("n[1-65536]"), SizeIs(kMostHosts));
  for (const char* text :
       {"n[1-65537]", "n[0-18446744073709551615]", "n[1-1000]m[1-1000]", "n[1-40000],m[1-40000]",
        "n[1-40000,1-40000]", "a[0-9]b[0-9]c[0-9]d[0-9]e[0-9]f[0-9]g[0-9]h[0-9]i[0-9]j[0-9]k[0-9]"})
    EXPECT_THAT(error_of(text), HasSubstr("it stands for too many")) << text;
  EXPECT_THAT(hosts_of("n[18446744073709551614-18446744073709551615]"),
              ElementsAre("n18446744073709551614", "n18446744073709551615"));
  EXPECT_THAT(error_of(std::string(300, 'a') + "[1-2]"), HasSubstr("a name is too long"));
  EXPECT_NE(error_of("n[" + std::string(100'000, '0') + "1-60000]"), "");
  EXPECT_LT(error_of(std::string(100'000, '[')).size(), 200u);
}

}  // namespace
}  // namespace ddprun::cluster
