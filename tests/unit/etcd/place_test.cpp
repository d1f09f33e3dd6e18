#include "rendezvous/etcd/place.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ddprun::etcd {
namespace {

using testing::HasSubstr;

TEST(EtcdPlace, MembersAndPrefixAreRead) {
  const auto place = parse_place("etcd://h1:2379,10.0.0.2:4,[fd00::1]:5,h4/jobs/a");
  ASSERT_TRUE(place) << place.error().text;
  std::vector<std::string> members;
  for (const Endpoint& each : place->members) members.push_back(to_text(each));
  EXPECT_EQ(members, (std::vector<std::string>{"h1:2379", "10.0.0.2:4", "[fd00::1]:5", "h4:2379"}));
  EXPECT_EQ(place->prefix, "/jobs/a/");
}

TEST(EtcdPlace, WithoutAPrefixThereIsOne) {
  EXPECT_EQ(parse_place("etcd://h:1")->prefix, "/ddprun/");
  EXPECT_EQ(parse_place("etcd://h:1/")->prefix, "/ddprun/");
  EXPECT_EQ(parse_place("etcd://h:1/a/")->prefix, "/a/");
}

TEST(EtcdPlace, WhatIsNoneIsRefusedWithWhatToWrite) {
  const auto why = [](const char* text) {
    const auto place = parse_place(text);
    return place ? "taken" : place.error().text;
  };
  EXPECT_THAT(why("h:2379"), HasSubstr("write etcd://HOST:PORT"));
  EXPECT_THAT(why("etcds://h:2379"), HasSubstr("does not speak TLS with etcd yet"));
  EXPECT_THAT(why("etcd://u:p@h:2379"), HasSubstr("does not log in to etcd yet"));
  EXPECT_EQ(why("etcd://u:p@h:2379").find("u:p"), std::string::npos) << "it may be a password";
  EXPECT_THAT(why("etcd://"), HasSubstr("no host"));
  EXPECT_THAT(why("etcd://h:1,,h:2"), HasSubstr("no host"));
  EXPECT_THAT(why("etcd://h:0"), HasSubstr("port 0"));
  EXPECT_THAT(why("etcd://h:99999"), HasSubstr("65535"));
}

}  // namespace
}  // namespace ddprun::etcd
