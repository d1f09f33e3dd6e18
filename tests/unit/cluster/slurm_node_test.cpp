// Addresses in what Slurm prints and sets.
#include "launcher/cluster/slurm_node.h"

#include <gtest/gtest.h>

namespace ddprun::cluster {
namespace {

TEST(SlurmNode, TheAddressIsOneOfManyValues) {
  EXPECT_EQ(node_address("NodeName=n1 Arch=x86_64 Gres=(null) NodeAddr=10.0.0.1 NodeHostName=h "
                         "Port=26918\n"),
            "10.0.0.1");
  EXPECT_EQ(node_address("NodeName=n1 Arch=x86_64\n   NodeAddr=n1.cluster\n"), "n1.cluster");
  for (const char* text : {"", "Node n9 not found", "NodeName=n1 NodeAddr=", "NodeName=n1 NodeAddr",
                           "NodeName=n1 NodeAddr=(null) Port=1"})
    EXPECT_EQ(node_address(text), std::nullopt) << text;
}

TEST(SlurmNode, AnAliasHasAnAddress) {
  const char* aliases = "ec10:10.0.0.9:x,ec1:10.0.0.1:foo,ec2:[fd00::2]:bar";
  EXPECT_EQ(alias_address(aliases, "ec1"), "10.0.0.1");
  EXPECT_EQ(alias_address(aliases, "ec2"), "fd00::2");
  EXPECT_EQ(alias_address(aliases, "ec3"), std::nullopt);
  for (const char* text : {"", "(null)", "ec1", "ec1:", "ec1:[fd00", "ec1::foo"})
    EXPECT_EQ(alias_address(text, "ec1"), std::nullopt) << text;
}

TEST(SlurmNode, ANodeThatIsNotThereIsToldFromAControllerThatIsNot) {
  EXPECT_TRUE(is_no_such_node("Node n9 not found\n"));
  EXPECT_FALSE(is_no_such_node("slurm_load_node error: Unable to contact slurm controller"));
}

}  // namespace
}  // namespace ddprun::cluster
