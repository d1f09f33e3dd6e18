// Lists in CUDA_VISIBLE_DEVICES, against PyTorch's own answers, and what is said about them.
#include "launcher/devices/visible.h"

#include <gmock/gmock.h>

#include "launcher/devices/discover.h"

namespace ddprun::devices {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Eight GPUs with the UUIDs of make_visible_cases.py.
NodeGpus eight_gpus() {
  NodeGpus node;
  node.source = Source::nvml;
  for (int k = 0; k < 8; ++k) {
    const std::string uuid = "GPU-a" + std::to_string(k) + "000000-1111-2222-3333-444444444444";
    node.gpus.push_back({k, uuid, "0000:00:00.0", "NVIDIA H200"});
  }
  return node;
}

std::vector<int> ids_of(const VisibleGpus& visible) {
  std::vector<int> ids;
  for (const Gpu& gpu : visible.gpus) ids.push_back(gpu.index);
  return ids;
}

std::vector<int> ids_of(const std::string& list) {
  return ids_of(visible(list, eight_gpus()));
}

std::vector<std::string> warnings_of(const std::string& list) {
  return visible(list, eight_gpus()).warnings;
}

struct Case {
  const char* list;
  std::vector<int> ids;
};

TEST(Visible, AgreesWithPyTorch) {
  const Case cases[] = {
#include "tests/unit/devices/visible_cases.inc"
  };
  for (const Case& c : cases) EXPECT_EQ(ids_of(c.list), c.ids) << "'" << c.list << "'";
}

// PyTorch's reader throws here, or counts letters of other alphabets; the driver shows nothing.
TEST(Visible, ShowsNothingWherePyTorchStops) {
  for (const char* list : {"-", "+", "+-1", "+-0", "--1", "-x"})
    EXPECT_THAT(ids_of(list), IsEmpty()) << list;
}

TEST(Visible, UnsetIsAllAndEmptyIsNone) {
  const VisibleGpus all = visible(std::nullopt, eight_gpus());
  EXPECT_EQ(all.gpus.size(), 8u);
  EXPECT_FALSE(all.list_given);
  for (const char* list : {"", " ", "-1", "NoDevFiles"}) {
    const VisibleGpus none = visible(list, eight_gpus());
    EXPECT_THAT(none.gpus, IsEmpty());
    EXPECT_TRUE(none.list_given && none.hides_all) << list;
    EXPECT_EQ(none.list_text, list);
    EXPECT_THAT(none.warnings, IsEmpty());
  }
  for (const char* list : {"-2", "-1,0", "99", "0,0", "abc", "none"})
    EXPECT_FALSE(visible(list, eight_gpus()).hides_all) << list;
}

TEST(Visible, SaysWhereAListEnds) {
  EXPECT_THAT(
      warnings_of("1,,2"),
      ElementsAre("CUDA_VISIBLE_DEVICES='1,,2' ends before its entry 2, '', which is empty: what "
                  "is behind it is ignored as well"));
  EXPECT_THAT(
      warnings_of("0,99"),
      ElementsAre("CUDA_VISIBLE_DEVICES='0,99' ends before its entry 2, '99', which is no GPU of "
                  "this node, which has 8"));
  EXPECT_THAT(warnings_of("-1,0"),
              ElementsAre("CUDA_VISIBLE_DEVICES='-1,0' ends before its entry 1, '-1', which is "
                          "negative: what is behind it is ignored as well"));
  EXPECT_THAT(warnings_of("abc"), ElementsAre(HasSubstr("'abc', which is not a number")));
  EXPECT_THAT(warnings_of("3,GPU-a2"),
              ElementsAre(HasSubstr("'GPU-a2', which is a name; a list is")));
  EXPECT_THAT(warnings_of("GPU-a2,3"),
              ElementsAre(HasSubstr("'3', which does not begin with GPU-")));
  EXPECT_THAT(warnings_of("GPU-a"), ElementsAre(HasSubstr("fits more than one device")));
  EXPECT_THAT(warnings_of("GPU-zz"), ElementsAre(HasSubstr("is no device of this node")));
  EXPECT_THAT(warnings_of(","), ElementsAre(HasSubstr("entry 1, '', which is empty")));
}

TEST(Visible, SaysThatADeviceIsNamedTwice) {
  EXPECT_THAT(warnings_of("0,0"),
              ElementsAre("CUDA_VISIBLE_DEVICES='0,0' names GPU 0 twice: the driver "
                          "then shows no GPU at all"));
  EXPECT_THAT(warnings_of("GPU-a1,GPU-a10"), ElementsAre(HasSubstr("names GPU 1 twice")));
  EXPECT_THAT(warnings_of("GPU-zz,GPU-zz"), ElementsAre(HasSubstr("names GPU-zz twice")));
}

TEST(Visible, SaysHowALooseNumberIsRead) {
  EXPECT_THAT(warnings_of("1gpu2"),
              ElementsAre("CUDA_VISIBLE_DEVICES='1gpu2' has '1gpu2' in it, which is "
                          "read as 1"));
}

TEST(Visible, HasNothingToSayAboutGoodLists) {
  for (const char* list : {"0", "3,1", " 1, 2", "+1", "1,", "GPU-a1,GPU-a2", "GPU-a2,"})
    EXPECT_THAT(warnings_of(list), IsEmpty()) << list;
}

TEST(Visible, WithoutGpusEveryListIsFine) {
  const VisibleGpus none = visible("0,1,99", NodeGpus{});
  EXPECT_THAT(none.gpus, IsEmpty());
  EXPECT_THAT(none.warnings, IsEmpty());
  EXPECT_EQ(none.list_text, "0,1,99");
}

TEST(Visible, SimulatedGpusHaveNumbersOnly) {
  EXPECT_THAT(ids_of(visible("1,2,3,4", simulate(8))), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(visible("GPU-a0", simulate(8)).gpus, IsEmpty());
}

NodeGpus divided_node() {
  NodeGpus node = eight_gpus();
  node.gpus[0].divided = true;
  for (const char* part : {"00", "01", "02"})
    node.mig_devices.push_back({0, "MIG-b0" + std::string(part), "0000:00:00.0", "MIG 1g.18gb"});
  return node;
}

TEST(Visible, FindsMigDevicesAndShowsTheFirst) {
  const VisibleGpus one = visible("MIG-b001", divided_node());
  ASSERT_EQ(one.gpus.size(), 1u);
  EXPECT_EQ(one.gpus[0].uuid, "MIG-b001");
  EXPECT_THAT(one.warnings, IsEmpty());
  const VisibleGpus two = visible("MIG-b002,MIG-b000", divided_node());
  ASSERT_EQ(two.gpus.size(), 1u);
  EXPECT_EQ(two.gpus[0].uuid, "MIG-b002");
  EXPECT_THAT(two.warnings,
              ElementsAre(HasSubstr("names 2 MIG devices: the driver shows a process the "
                                    "first one only")));
  EXPECT_THAT(visible("MIG-b0", divided_node()).gpus, IsEmpty());
  EXPECT_THAT(visible("MIG-zz", divided_node()).warnings, ElementsAre(HasSubstr("is no device")));
}

TEST(Visible, PartsForOneWorkerEachAreAllUsed) {
  const VisibleGpus two = visible("MIG-b002,MIG-b000", divided_node(), DeviceOrder::fastest_first,
                                  ListFor::one_entry_each);
  ASSERT_EQ(two.gpus.size(), 2u);
  EXPECT_EQ(two.gpus[1].uuid, "MIG-b000");
  EXPECT_THAT(two.entries, ElementsAre("MIG-b002", "MIG-b000"));
  EXPECT_THAT(two.warnings, IsEmpty());
}

TEST(Visible, EntriesAreAsTheUserWroteThem) {
  const auto entries = [](const std::optional<std::string>& list) {
    return visible(list, eight_gpus()).entries;
  };
  EXPECT_THAT(entries("3, 1,5gpu"), ElementsAre("3", "1", "5gpu"));
  EXPECT_THAT(entries("GPU-a2,GPU-a1000"), ElementsAre("GPU-a2", "GPU-a1000"));
  EXPECT_THAT(entries("2,,3"), ElementsAre("2"));
  EXPECT_THAT(entries("2,2"), IsEmpty());
  EXPECT_THAT(entries(std::nullopt), ElementsAre("0", "1", "2", "3", "4", "5", "6", "7"));
}

TEST(Visible, WarnsOfADividedGpuNamedAsAWhole) {
  EXPECT_THAT(visible("0", divided_node()).warnings,
              ElementsAre(HasSubstr("GPU 0 is divided (MIG)")));
  EXPECT_THAT(visible("1", divided_node()).warnings, IsEmpty());
}

TEST(Visible, WarnsOfNumbersOnANodeOfDifferentGpus) {
  NodeGpus mixed = eight_gpus();
  mixed.gpus[3].name = "NVIDIA L4";
  EXPECT_THAT(visible("0", mixed).warnings,
              ElementsAre(HasSubstr("set CUDA_DEVICE_ORDER=PCI_BUS_ID")));
  EXPECT_THAT(visible(std::nullopt, mixed).warnings, ElementsAre(HasSubstr("CUDA_DEVICE_ORDER")));
  EXPECT_THAT(visible("0", mixed, DeviceOrder::pci_bus_id).warnings, IsEmpty());
  EXPECT_THAT(visible("GPU-a0", mixed).warnings, IsEmpty());
}

}  // namespace
}  // namespace ddprun::devices
