#include "rendezvous/http/worker_texts.h"

#include <gtest/gtest.h>

namespace ddprun::http {
namespace {

std::string devices(const std::vector<std::string>& names) {
  std::vector<protocol::Started::Worker> workers;
  for (const std::string& name : names) workers.push_back({1, name});
  return devices_text(workers);
}

TEST(DevicesText, TakesTogetherWhatCountsUp) {
  EXPECT_EQ(devices({"GPU 0", "GPU 1", "GPU 2"}), "GPU 0–2");
  EXPECT_EQ(devices({"GPU 0", "GPU 2", "GPU 3"}), "GPU 0, 2–3");
  EXPECT_EQ(devices({"GPU 3", "GPU 1"}), "GPU 3, 1") << "the order says who has which";
  EXPECT_EQ(devices({"GPU 7"}), "GPU 7");
}

TEST(DevicesText, CountsThoseThatAreTheSame) {
  EXPECT_EQ(devices({"CPU", "CPU", "CPU"}), "3 × CPU");
  EXPECT_EQ(devices({"GPU 0", "GPU 0", "GPU 1", "GPU 1"}), "2 × GPU 0, 2 × GPU 1");
  EXPECT_EQ(devices({"CPU", "GPU 0", "TPU 1"}), "CPU, GPU 0, TPU 1");
}

TEST(DevicesText, TakesAnyText) {
  EXPECT_EQ(devices({}), "");
  EXPECT_EQ(devices({"", ""}), "2 × ");
  EXPECT_EQ(devices({"99999999999999999999", "GPU 2147483647", "GPU 0"}),
            "99999999999999999999, GPU 2147483647, 0");
}

TEST(DevicesText, ListsSixteenParts) {
  std::vector<std::string> every_second;
  for (int i = 0; i < 40; ++i) every_second.push_back("GPU " + std::to_string(2 * i));
  EXPECT_TRUE(devices(every_second).ends_with(", 30 and 24 more"));
}

TEST(PidsText, AreNumbers) {
  EXPECT_EQ(pids_text({{901, ""}, {902, ""}, {917, ""}}), "901–902, 917");
}

}  // namespace
}  // namespace ddprun::http
