#include "rendezvous/server/slots.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace ddprun::server {
namespace {

std::unique_ptr<std::string> thing(const std::string& text) {
  return std::make_unique<std::string>(text);
}

TEST(Slots, FindsWhatWasAddedUnderTheIdThatWasToldBefore) {
  Slots<std::string> slots;
  const auto id = slots.next_id(7);
  EXPECT_EQ(slots.find(id), nullptr);
  EXPECT_EQ(slots.add(7, thing("seven")), id);
  ASSERT_NE(slots.find(id), nullptr);
  EXPECT_EQ(*slots.find(id), "seven");
  EXPECT_EQ(slots.size(), 1u);
}

TEST(Slots, AnIdDoesNotFindWhoeverHasTheDescriptorNow) {
  Slots<std::string> slots;
  const auto before = slots.add(3, thing("before"));
  slots.remove(before);
  EXPECT_TRUE(slots.empty());
  EXPECT_EQ(slots.find(before), nullptr);
  const auto now = slots.add(3, thing("now"));
  EXPECT_NE(now, before);
  EXPECT_EQ(slots.find(before), nullptr);
  EXPECT_EQ(*slots.find(now), "now");
}

TEST(Slots, AThingStaysWhereItIsWhenOthersComeAndGo) {
  Slots<std::string> slots;
  const auto first = slots.add(0, thing("first"));
  const std::string* place = slots.find(first);
  const auto far = slots.add(5000, thing("far"));
  slots.remove(far);
  EXPECT_EQ(slots.find(first), place);
}

TEST(Slots, NamesAllThatAreThere) {
  Slots<std::string> slots;
  const auto nine = slots.add(9, thing("nine"));
  const auto four = slots.add(4, thing("four"));
  const auto six = slots.add(6, thing("six"));
  slots.remove(six);
  EXPECT_EQ(slots.ids(), (std::vector{four, nine}));
  std::string visited;
  slots.for_each([&](auto id, const std::string& each) {
    EXPECT_EQ(slots.find(id), &each);
    visited += each + " ";
  });
  EXPECT_EQ(visited, "four nine ");
}

TEST(Slots, AnIdOfADescriptorThatNobodyHadFindsNothing) {
  Slots<std::string> other;
  Slots<std::string> slots;
  EXPECT_EQ(slots.find(other.add(12, thing("elsewhere"))), nullptr);
}

}  // namespace
}  // namespace ddprun::server
