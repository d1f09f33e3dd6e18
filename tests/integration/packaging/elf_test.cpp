// How the programs are linked: what makes a fault of memory harder to use.
#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "rendezvous/base/read_file.h"

namespace ddprun::test {
namespace {

template <class T>
T at(const std::string& bytes, std::uint64_t offset) {
  T value{};
  if (offset + sizeof value <= bytes.size())
    std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

struct Elf {
  explicit Elf(const std::string& path) : bytes(read_file(path).value_or("")) {
    head = at<Elf64_Ehdr>(bytes, 0);
    for (int i = 0; i < head.e_phnum; ++i)
      segments.push_back(
          at<Elf64_Phdr>(bytes, head.e_phoff + static_cast<std::uint64_t>(i) * head.e_phentsize));
  }
  const Elf64_Phdr* segment(std::uint32_t type) const {
    for (const Elf64_Phdr& each : segments)
      if (each.p_type == type) return &each;
    return nullptr;
  }
  // The value of an entry of the dynamic section; 0 where there is none.
  std::uint64_t dynamic(std::int64_t tag) const {
    const Elf64_Phdr* section = segment(PT_DYNAMIC);
    if (section == nullptr) return 0;
    for (std::uint64_t offset = 0; offset < section->p_filesz; offset += sizeof(Elf64_Dyn)) {
      const auto entry = at<Elf64_Dyn>(bytes, section->p_offset + offset);
      if (entry.d_tag == tag) return entry.d_un.d_val;
    }
    return 0;
  }

  std::string bytes;
  Elf64_Ehdr head;
  std::vector<Elf64_Phdr> segments;
};

class Linked : public testing::TestWithParam<const char*> {};

TEST_P(Linked, LiesWhereTheKernelChoosesAndExecutesNoData) {
  const Elf elf(GetParam());
  ASSERT_EQ(elf.bytes.substr(0, SELFMAG), ELFMAG);
  EXPECT_EQ(elf.head.e_type, ET_DYN) << "position independent";
  ASSERT_NE(elf.segment(PT_GNU_STACK), nullptr);
  EXPECT_EQ(elf.segment(PT_GNU_STACK)->p_flags & PF_X, 0U) << "a stack that can be executed";
  for (const Elf64_Phdr& each : elf.segments)
    EXPECT_FALSE(each.p_type == PT_LOAD && (each.p_flags & PF_W) && (each.p_flags & PF_X));
  EXPECT_NE(elf.segment(PT_GNU_RELRO), nullptr);
  EXPECT_EQ(elf.dynamic(DT_TEXTREL), 0U);
}

INSTANTIATE_TEST_SUITE_P(Each, Linked, testing::Values(DDPRUN_ELF_FILES));

class BoundAtTheStart : public testing::TestWithParam<const char*> {};

// So that the addresses of functions are read-only from then on.
TEST_P(BoundAtTheStart, AllOfItsFunctions) {
  const Elf elf(GetParam());
  EXPECT_TRUE((elf.dynamic(DT_FLAGS) & DF_BIND_NOW) || (elf.dynamic(DT_FLAGS_1) & DF_1_NOW));
}

INSTANTIATE_TEST_SUITE_P(Each, BoundAtTheStart, testing::Values(DDPRUN_BOUND_FILES));

#ifdef NDEBUG
class HardenedTest : public testing::TestWithParam<const char*> {};

// By a function of the C library that nothing else that they are linked with calls. The other flags
// stand beside this one and leave no such trace.
TEST_P(HardenedTest, ChecksItsBuffers) {
  EXPECT_NE(Elf(GetParam()).bytes.find("__fprintf_chk"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Each, HardenedTest, testing::Values(DDPRUN_HARDENED_FILES));
#endif

}  // namespace
}  // namespace ddprun::test
