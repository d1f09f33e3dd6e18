// What a crowd of strangers does to a server with a running job, in figures: each test is one kind
// of stranger at one kind of server, prints one line, and fails if a rank noticed, memory grew
// without a bound or anything is left. DDPRUN_CROWD is how often they come in all; ./dev soak crowd
// has 20,000.
#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <optional>
#include <thread>

#include "rendezvous/client/connection.h"
#include "rendezvous/guard/tls.h"
#include "tests/integration/guard/secrets.h"
#include "tests/integration/multi_node/nodes.h"
#include "tests/integration/rdzvd/real_rdzvd.h"
#include "tests/support/certificates.h"

namespace ddprun::test {
namespace {

using testing::HasSubstr;
using testing::Not;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::chrono::seconds kLimit{600};
constexpr int kNodes = 2, kRanksOfNode = 2, kAddresses = 8;
constexpr long kMegabyte = 1 << 10;          // kilobytes
constexpr long kMaxMemory = 64 * kMegabyte;  // --max-memory
const std::string kSecret = "the-secret-of-this-test-0123456789";

int crowd_size() {
  const char* wanted = std::getenv("DDPRUN_CROWD");
  return wanted == nullptr ? 240 : std::max(std::atoi(wanted), kAddresses);
}

// What a server asks for before it serves.
enum class Door { kOpen, kToken, kTls };

struct Case {
  std::string what;  // as ddprun_test_stranger knows it
  Door door;
};

std::string name_of(const Case& it) {
  std::string name = it.what + (it.door == Door::kOpen    ? "_open"
                                : it.door == Door::kToken ? "_token"
                                                          : "_tls");
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

// Asks a server all the time whether it is well, as one who means well.
class Asker {
 public:
  Asker(std::uint16_t port, std::shared_ptr<const guard::Tls> tls)
      : port_(port), tls_(std::move(tls)), thread_([this] { ask_often(); }) {}
  ~Asker() { stop(); }

  struct Answers {
    int asked = 0, answered = 0;
    milliseconds longest{};
  };
  Answers stop() {
    over_ = true;
    if (thread_.joinable()) thread_.join();
    return answers_;
  }

 private:
  void ask_often() {
    while (!over_) {
      const auto before = Clock::now();
      ++answers_.asked;
      if (ask()) {
        ++answers_.answered;
        answers_.longest =
            std::max(answers_.longest, std::chrono::ceil<milliseconds>(Clock::now() - before));
      }
      std::this_thread::sleep_for(milliseconds(20));  // between two questions
    }
  }
  bool ask() const {
    const auto soon = Clock::now() + std::chrono::seconds(10);
    auto connection = client::Connection::open("127.0.0.1", port_, soon, "the page");
    if (!connection || (tls_ && !connection->secure(tls_, soon))) return false;
    if (!connection->send("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n", soon)) return false;
    const auto answer = connection->receive(soon);
    return answer && answer->starts_with("HTTP/1.1 200");
  }

  std::uint16_t port_;
  std::shared_ptr<const guard::Tls> tls_;
  Answers answers_;
  std::atomic<bool> over_ = false;
  std::thread thread_;
};

class CrowdFigures : public testing::TestWithParam<Case> {
 protected:
  CrowdFigures() {
    allow_files(1 << 20);
    Words options{"--max-memory", "64M"};
    if (GetParam().door == Door::kTls) {
      certificates_.emplace().make("server", "DNS:localhost,IP:127.0.0.1");
      tls_ = guard::Tls::client({.ca = certificates_->ca()}, "127.0.0.1").value();
      add(options,
          {"--tls-cert", certificates_->cert("server"), "--tls-key", certificates_->key("server")});
      add(keys_, {"--tls-ca", certificates_->ca()});
    }
    if (GetParam().door != Door::kOpen) {
      add(options, {"--token-file", token_});
      add(keys_, {"--token-file", token_});
    }
    server_.emplace(options, RunOptions{.limit = kLimit}, log_);
  }

  static void add(Words& words, const Words& more) {
    words.insert(words.end(), more.begin(), more.end());
  }

  // ---- the job ----

  void start_job() {
    Words command{DDPRUN_TEST_BUSY_RANK, go_};
    // Its ranks work on the server's own store where that takes clients.
    if (GetParam().door == Door::kOpen) command.push_back(server_->address());
    for (int node = 0; node < kNodes; ++node) {
      Words options{"--nnodes",
                    std::to_string(kNodes),
                    "-n",
                    std::to_string(kRanksOfNode),
                    "--rdzv-backend",
                    "c10d",
                    "--rdzv-endpoint",
                    server_->address(),
                    "--rdzv-id",
                    "job"};
      add(options, keys_);
      nodes_.push_back(start(options, command, {.limit = kLimit}));
    }
    for (const auto& node : nodes_) ASSERT_TRUE(node->wait_for_output("up\n", kRanksOfNode));
  }
  struct Work {
    long steps = 0, longest_ms = 0;
  };
  // Every rank has worked to the end, and nobody has lost the server.
  Work end_job() const {
    EXPECT_EQ(run_shell("touch " + go_).code, 0);
    Work all;
    for (const auto& node : nodes_) {
      const Finished end = node->finish();
      EXPECT_EQ(end.code, 0) << end.err;
      EXPECT_EQ(count_of("worked ", end.out), kRanksOfNode) << end.out;
      EXPECT_THAT(end.err, Not(HasSubstr("lost the rendezvous")));
      for (const std::string& line : lines(end.out)) {
        long steps = 0, longest = 0;
        const std::size_t at = line.find("worked ");
        if (at == std::string::npos ||
            std::sscanf(line.c_str() + at, "worked %ld %ld", &steps, &longest) != 2)
          continue;
        all.steps += steps;
        all.longest_ms = std::max(all.longest_ms, longest);
      }
    }
    return all;
  }

  // ---- the crowd ----

  void let_them_come(int count) {
    if (GetParam().what == "nobody") {  // what the others are compared with
      std::this_thread::sleep_for(milliseconds(count / 2));
      return;
    }
    for (int each = 0; each < kAddresses; ++each) {
      Words words{DDPRUN_TEST_STRANGER, GetParam().what, std::to_string(count / kAddresses),
                  "127.0.0." + std::to_string(each + 2), std::to_string(server_->port())};
      if (certificates_) add(words, {"--tls-ca", certificates_->ca()});
      add(words, {"--token", kSecret});
      strangers_.push_back(std::make_unique<Program>(words, RunOptions{.limit = kLimit}));
    }
  }
  // How often they came through, once all have.
  int wait_for_them() const {
    int through = 0;
    for (const auto& each : strangers_) {
      EXPECT_TRUE(each->wait_for_output("\n"));
      through += std::atoi(each->out().c_str());
    }
    return through;
  }

  // ---- the server ----

  std::string proc(const std::string& file) const {
    return "/proc/" + std::to_string(server_->program().pid()) + "/" + file;
  }
  long descriptors() const {
    return std::distance(std::filesystem::directory_iterator(proc("fd")), {});
  }
  // The most that it has ever had, in kilobytes.
  long peak() const {
    const std::string status = read_file(proc("status")).value_or("");
    const std::size_t at = status.find("VmHWM:");
    return at == std::string::npos ? -1 : std::atol(status.c_str() + at + 6);
  }
  bool comes_back_to(long descriptors_before) const {
    const auto until = Clock::now() + std::chrono::seconds(40);
    while (descriptors() > descriptors_before && Clock::now() < until)
      std::this_thread::sleep_for(milliseconds(10));
    return descriptors() <= descriptors_before;
  }

  const Secrets secrets_;
  const std::string token_ = secrets_.file("token", kSecret);
  const std::string go_ = secrets_.folder() / "go";
  const std::string log_ = secrets_.folder() / "log";
  std::optional<Certificates> certificates_;
  std::shared_ptr<guard::Tls> tls_;
  Words keys_;
  mutable std::optional<RealRdzvd> server_;
  std::deque<std::unique_ptr<Program>> nodes_, strangers_;
};

INSTANTIATE_TEST_SUITE_P(
    , CrowdFigures,
    testing::Values(
        Case{"nobody", Door::kOpen}, Case{"kept", Door::kOpen}, Case{"port-scan", Door::kOpen},
        Case{"tls-scan", Door::kOpen}, Case{"store-reader", Door::kOpen},
        Case{"nobody", Door::kToken}, Case{"kept", Door::kToken}, Case{"port-scan", Door::kToken},
        Case{"tls-scan", Door::kToken}, Case{"token", Door::kToken}, Case{"reader", Door::kToken},
        Case{"nobody", Door::kTls}, Case{"kept", Door::kTls}, Case{"port-scan", Door::kTls},
        Case{"tls-scan", Door::kTls}, Case{"token", Door::kTls}, Case{"reader", Door::kTls}),
    [](const auto& with) { return name_of(with.param); });

TEST_P(CrowdFigures, NoRankNoticesAndNothingIsLeft) {
  ASSERT_NO_FATAL_FAILURE(start_job());
  const long memory = server_->resident(), files = descriptors();
  Asker asker(server_->port(), tls_);
  const auto before = Clock::now();
  const int count = crowd_size() / kAddresses * kAddresses;
  let_them_come(count);
  const int through = wait_for_them();
  const std::chrono::duration<double> took = Clock::now() - before;
  const long held = descriptors() - files;
  const long most = peak();
  const Asker::Answers answers = asker.stop();
  strangers_.clear();
  EXPECT_TRUE(comes_back_to(files)) << descriptors() << " descriptors, " << files << " before";
  const long after = server_->resident(), files_after = descriptors();
  const Work work = end_job();
  EXPECT_EQ(server_->stop().code, 0);
  const std::size_t log_lines = lines(read_file(log_).value_or("")).size();
  EXPECT_LT(static_cast<double>(log_lines), 400 + 20 * took.count());
  // What OpenSSL and the kernel's bookkeeping need for one is not part of --max-memory.
  EXPECT_LT(most - memory, kMaxMemory + held * 64) << "kilobytes";
  const auto megabytes = [](long kilobytes) { return static_cast<double>(kilobytes) / kMegabyte; };
  std::printf("crowd: %s: %d of %d came through in %.1f s, %ld descriptors held; ",
              name_of(GetParam()).c_str(), through, count, took.count(), held);
  std::printf("ranks: %ld steps, the longest %ld ms; ", work.steps, work.longest_ms);
  std::printf("healthz: %d of %d answered, the longest %ld ms; ", answers.answered, answers.asked,
              static_cast<long>(answers.longest.count()));
  std::printf("memory %.1f MB before, at most %.1f, %.1f after; ", megabytes(memory),
              megabytes(most), megabytes(after));
  std::printf("descriptors %ld before, %ld after; %zu lines of log\n", files, files_after,
              log_lines);
}

}  // namespace
}  // namespace ddprun::test
