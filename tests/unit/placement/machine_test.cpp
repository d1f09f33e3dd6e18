// Topologies that hwloc makes from a description, and what sysfs says of a device.
#include "launcher/placement/machine.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "launcher/placement/cpu_list.h"
#include "tests/unit/placement/topologies.h"

namespace ddprun::placement {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::SizeIs;

std::string failure_of(const std::string& module_file) {
  const auto topology = read_topology(module_file);
  return topology ? "" : topology.error().text;
}

TEST(ModuleTest, AFileThatIsNotThereIsNamed) {
  EXPECT_THAT(failure_of("/nonexistent/module.so"),
              AllOf(HasSubstr("cannot be loaded"), HasSubstr("/nonexistent/module.so")));
}

TEST(ModuleTest, AnotherLibraryIsNoModule) {
  EXPECT_THAT(failure_of("libm.so.6"), HasSubstr("ddprun_read_topology_1"));
}

#ifndef DDPRUN_HWLOC_MODULE

TEST(ModuleTest, ABuildWithoutHwlocSaysWhereItLooked) {
  EXPECT_THAT(failure_of(""), HasSubstr("libddprun_hwloc.so is not installed (looked in /"));
}

#else

TEST(ModuleTest, WithoutANameItIsFoundBesideTheProgram) {
  EXPECT_EQ(failure_of(""), "") << "the tests are in tests/, the module in lib/";
}

Topology synthetic(const char* description) {
  setenv("HWLOC_SYNTHETIC", description, 1);
  const auto topology = read_topology(DDPRUN_HWLOC_MODULE);
  unsetenv("HWLOC_SYNTHETIC");
  if (topology) return *topology;
  ADD_FAILURE() << topology.error().text;
  return {};
}

TEST(HwlocTest, ReadsASyntheticMachine) {
  const Topology found = synthetic("pack:2 numa:2 l3:2 core:4 pu:2");
  EXPECT_FALSE(found.this_machine);
  EXPECT_EQ(found.cpus, two_sockets().cpus);
}

TEST(HwlocTest, OddMachinesAreReadToo) {
  const Topology no_caches = synthetic("numa:2 pu:4");
  ASSERT_THAT(no_caches.cpus, SizeIs(8));
  EXPECT_EQ(no_caches.cpus[5], (Cpu{.id = 5, .core = 5, .package = 0, .node = 1, .cache = 5}));
  const Topology interleaved = synthetic("numa:2 core:2 pu:2(indexes=core:numa)");
  ASSERT_THAT(interleaved.cpus, SizeIs(8));
  EXPECT_EQ(interleaved.cpus[1].node, 0);
  EXPECT_EQ(interleaved.cpus[1].core, 0);
  EXPECT_NE(interleaved.cpus[1].id, 1);
}

TEST(HwlocTest, ReadsAnXmlFile) {
  const std::string path = ::testing::TempDir() + "topology." + std::to_string(getpid()) + ".xml";
  std::ofstream(path) << R"(<?xml version="1.0"?><!DOCTYPE topology SYSTEM "hwloc2.dtd">
<topology version="2.0"><object type="Machine" os_index="0" cpuset="0x3" complete_cpuset="0x3"
 allowed_cpuset="0x3" nodeset="0x1" complete_nodeset="0x1" allowed_nodeset="0x1" gp_index="1">
<object type="NUMANode" os_index="0" cpuset="0x3" complete_cpuset="0x3" nodeset="0x1"
 complete_nodeset="0x1" gp_index="2" local_memory="1073741824"/>
<object type="Core" os_index="0" cpuset="0x3" complete_cpuset="0x3" nodeset="0x1"
 complete_nodeset="0x1" gp_index="3"><object type="PU" os_index="0" cpuset="0x1"
 complete_cpuset="0x1" nodeset="0x1" complete_nodeset="0x1" gp_index="4"/><object type="PU"
 os_index="1" cpuset="0x2" complete_cpuset="0x2" nodeset="0x1" complete_nodeset="0x1"
 gp_index="5"/></object></object></topology>
)";
  setenv("HWLOC_XMLFILE", path.c_str(), 1);
  const auto topology = read_topology(DDPRUN_HWLOC_MODULE);
  unsetenv("HWLOC_XMLFILE");
  std::filesystem::remove(path);
  ASSERT_TRUE(topology) << topology.error().text;
  ASSERT_THAT(topology->cpus, SizeIs(2));
  EXPECT_EQ(topology->cpus[0].core, topology->cpus[1].core);
  EXPECT_FALSE(topology->this_machine);
}

TEST(HwlocTest, ThisMachineHasTheCpusThatWeMayUse) {
  const auto topology = read_topology(DDPRUN_HWLOC_MODULE);
  ASSERT_TRUE(topology) << topology.error().text;
  EXPECT_TRUE(topology->this_machine);
  CpuList ids;
  for (const Cpu& cpu : topology->cpus) ids.push_back(cpu.id);
  std::ranges::sort(ids);
  EXPECT_TRUE(std::ranges::includes(ids, inherited_cpus()));
}

#endif

// A sysfs of our own.
class Sysfs {
 public:
  Sysfs() : root_(::testing::TempDir() + "sysfs." + std::to_string(getpid())) {}
  ~Sysfs() { std::filesystem::remove_all(root_); }
  const std::string& root() const { return root_; }
  void add(const std::string& address, const std::string& node) const {
    const std::string folder = root_ + "/bus/pci/devices/" + address;
    std::filesystem::create_directories(folder);
    std::ofstream(folder + "/numa_node") << node;
  }

 private:
  std::string root_;
};

TEST(DeviceTest, TheKernelSaysAtWhichNodeItIs) {
  const Sysfs sysfs;
  sysfs.add("0000:c1:00.0", "3\n");
  sysfs.add("0000:11:00.0", "-1\n");
  sysfs.add("0000:12:00.0", "");
  EXPECT_EQ(node_of_device("0000:c1:00.0", sysfs.root()), 3);
  EXPECT_EQ(node_of_device("0000:11:00.0", sysfs.root()), std::nullopt);
  EXPECT_EQ(node_of_device("0000:12:00.0", sysfs.root()), std::nullopt);
  EXPECT_EQ(node_of_device("0000:99:00.0", sysfs.root()), std::nullopt);
}

}  // namespace
}  // namespace ddprun::placement
