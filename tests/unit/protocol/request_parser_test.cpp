#include "rendezvous/protocol/request_parser.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "rendezvous/protocol/encode.h"
#include "rendezvous/protocol/little_endian.h"

namespace ddprun::protocol {
namespace {

using namespace std::string_literals;

const Limits kLimits;

std::string hello() {
  std::string bytes;
  encode_validate(bytes);
  return bytes;
}

// Every operation at least once, with empty texts and NULs.
std::string all_operations() {
  const std::vector<std::string> keys{"/a", "", "/b\0c"s};
  const std::vector<std::string> none;
  const std::vector<KeyValue> items{{"/x", "1"}, {"/y", ""}, {"", "\0\0"s}};
  std::string bytes = hello();
  encode_ping(bytes, 0xA5A5A5A5);
  encode_key_value(bytes, Operation::kSet, "/key", "value");
  encode_key_value(bytes, Operation::kSet, "", "");
  encode_compare_set(bytes, "/key", "expected", "desired");
  encode_key(bytes, Operation::kGet, "/key");
  encode_key_number(bytes, Operation::kAdd, "/n", -7);
  encode_keys(bytes, Operation::kCheck, keys);
  encode_keys(bytes, Operation::kWait, none);
  encode_keys(bytes, Operation::kWait, keys);
  encode_bare(bytes, Operation::kGetNumKeys);
  encode_key(bytes, Operation::kDeleteKey, "/key");
  encode_key_value(bytes, Operation::kAppend, "/key", "\x00\x63"s);
  encode_keys(bytes, Operation::kMultiGet, keys);
  encode_multi_set(bytes, items);
  encode_bare(bytes, Operation::kCancelWait);
  encode_key_value(bytes, Operation::kQueuePush, "/q", "item");
  encode_key(bytes, Operation::kQueuePop, "/q");
  encode_key(bytes, Operation::kQueueLen, "/q");
  encode_bare(bytes, Operation::kListKeys);
  encode_key_number(bytes, Operation::kBarrier, "/b", 2);
  return bytes;
}

std::string describe(const Request& request) {
  std::string text(name(request.operation));
  text += "|" + std::string(request.key) + "|" + std::string(request.value) + "|" +
          std::string(request.desired) + "|" + std::to_string(request.number) + "|" +
          std::to_string(request.word);
  for (const Item& item : request.items) {
    text += "|" + std::string(item.key) + "=" + std::string(item.value);
  }
  return text;
}

// What comes out, as one text for each request, and the error at the end if there is one.
std::vector<std::string> parse(const std::vector<std::string>& pieces,
                               const Limits& limits = kLimits) {
  RequestParser parser(limits);
  Request request;
  std::vector<std::string> found;
  for (const std::string& piece : pieces) {
    parser.feed(piece);
    while (parser.next(request)) found.push_back(describe(request));
  }
  if (parser.failed()) found.push_back("error: " + parser.error());
  return found;
}

TEST(RequestParser, ReadsWhatTheEncoderWrites) {
  const std::vector<std::string> found = parse({all_operations()});
  ASSERT_EQ(found.size(), 21u);
  EXPECT_EQ(found[1], "PING||||0|2779096485");
  EXPECT_EQ(found[2], "SET|/key|value||0|0");
  EXPECT_EQ(found[4], "COMPARE_SET|/key|expected|desired|0|0");
  EXPECT_EQ(found[6], "ADD|/n|||-7|0");
  EXPECT_EQ(found[8], "WAIT||||0|0");
  EXPECT_EQ(found[9], "WAIT||||0|0|/a=|=|/b\0c="s);
  EXPECT_EQ(found[14], "MULTI_SET||||0|0|/x=1|/y=|=\0\0"s);
  EXPECT_EQ(found[20], "BARRIER|/b|||2|0");
}

TEST(RequestParser, SplittingTheInputAnywhereChangesNothing) {
  const std::string bytes = all_operations();
  const std::vector<std::string> whole = parse({bytes});
  for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
    EXPECT_EQ(parse({bytes.substr(0, cut), bytes.substr(cut)}), whole) << "cut at " << cut;
  }
  std::vector<std::string> single;
  for (const char byte : bytes) single.emplace_back(1, byte);
  EXPECT_EQ(parse(single), whole);
}

TEST(RequestParser, SplittingGarbageAnywhereChangesNothing) {
  std::mt19937 random(3);
  for (int round = 0; round < 2'000; ++round) {
    std::string bytes = hello();
    const std::string good = all_operations();
    bytes += good.substr(hello().size(), random() % good.size());
    for (int i = 0; i < 12; ++i) bytes.push_back(static_cast<char>(random() % 20));
    const std::size_t first = random() % bytes.size();
    const std::size_t second = first + random() % (bytes.size() - first);
    EXPECT_EQ(
        parse({bytes.substr(0, first), bytes.substr(first, second - first), bytes.substr(second)}),
        parse({bytes}));
  }
}

TEST(RequestParser, KeepsOnlyTheBytesThatArrived) {
  RequestParser parser(kLimits);
  std::string bytes = hello();
  encode_key(bytes, Operation::kGet, "/k");
  bytes.push_back(static_cast<char>(Operation::kSet));
  store<std::uint64_t>(bytes, 2);
  bytes += "/k";
  store<std::uint64_t>(bytes, kLimits.max_value_bytes);  // announced, never sent
  parser.feed(bytes);
  Request request;
  ASSERT_TRUE(parser.next(request));
  ASSERT_TRUE(parser.next(request));
  EXPECT_FALSE(parser.next(request));
  EXPECT_FALSE(parser.failed());
  EXPECT_EQ(parser.pending_bytes(), 1u + 8 + 2 + 8);
}

TEST(RequestParser, RefusesEachLimitByNameBeforeItsBytesCome) {
  const Limits limits{10, 20, 3, 64};
  const auto after_hello = [&](Operation operation, std::initializer_list<std::uint64_t> words,
                               const std::string& text = "") {
    std::string bytes = hello();
    bytes.push_back(static_cast<char>(operation));
    for (const std::uint64_t word : words) store(bytes, word);
    return parse({bytes + text}, limits).back();
  };
  EXPECT_EQ(after_hello(Operation::kGet, {11}),
            "error: GET: a key length of 11 is over the limit of 10 (max_key_bytes)");
  EXPECT_EQ(after_hello(Operation::kSet, {0, 2'147'483'648}),
            "error: SET: a value length of 2147483648 is over the limit of 20 (max_value_bytes)");
  EXPECT_EQ(after_hello(Operation::kCompareSet, {0, 0, ~std::uint64_t{0}}),
            "error: COMPARE_SET: a value length of 18446744073709551615 is over the limit of 20 "
            "(max_value_bytes)");
  EXPECT_EQ(after_hello(Operation::kWait, {4}),
            "error: WAIT: a count of 4 is over the limit of 3 (max_keys_per_request)");
  EXPECT_EQ(after_hello(Operation::kMultiSet, {~std::uint64_t{0}}),
            "error: MULTI_SET: a count of 18446744073709551615 is over the limit of 3 "
            "(max_keys_per_request)");
  std::string items;
  for (int i = 0; i < 2; ++i) {
    store<std::uint64_t>(items, 0);
    store<std::uint64_t>(items, 10);
    items += "0123456789";
  }
  EXPECT_EQ(after_hello(Operation::kMultiSet, {3}, items),
            "VALIDATE||||0|1015412686");  // 61 bytes so far, and no error
  store<std::uint64_t>(items, 0);
  EXPECT_EQ(after_hello(Operation::kMultiSet, {3}, items),
            "error: MULTI_SET: a request length of 69 is over the limit of 64 (max_request_bytes)");
}

TEST(RequestParser, AcceptsExactlyTheLimits) {
  const Limits limits{10, 20, 3, 1 << 10};
  std::string bytes = hello();
  const std::vector<std::string> keys(3, std::string(10, 'k'));
  encode_keys(bytes, Operation::kWait, keys);
  encode_key_value(bytes, Operation::kSet, keys[0], std::string(20, 'v'));
  EXPECT_EQ(parse({bytes}, limits).size(), 3u);
  EXPECT_EQ(parse({bytes}, limits).back(), "SET|kkkkkkkkkk|vvvvvvvvvvvvvvvvvvvv||0|0");
}

TEST(RequestParser, InsistsOnTheGreeting) {
  std::string get;
  encode_key(get, Operation::kGet, "/k");
  EXPECT_EQ(parse({get}).back(), "error: the first request is not VALIDATE");
  EXPECT_EQ(parse({"\x00\xCE\xF7\x85\x3D"s}).back(),
            "error: VALIDATE: VALIDATE carries the wrong magic number");
  EXPECT_EQ(parse({hello() + hello()}).back(), "error: VALIDATE comes a second time");
  EXPECT_EQ(parse({hello() + "\x13"}).back(), "error: there is no operation 19");
}

TEST(RequestParser, StaysFailed) {
  RequestParser parser(kLimits);
  Request request;
  parser.feed("\x63");
  EXPECT_FALSE(parser.next(request));
  const std::string good = hello();
  parser.feed(good);
  EXPECT_FALSE(parser.next(request));
  EXPECT_TRUE(parser.failed());
}

TEST(RequestParser, LargeRequestInSmallPiecesCostsLinearTime) {
  // 131,072 keys in pieces of 100 bytes: scanning from the start for each piece would take hours.
  std::vector<std::string> keys;
  for (int i = 0; i < 128 << 10; ++i) keys.push_back("/key/" + std::to_string(i));
  std::string bytes = hello();
  encode_keys(bytes, Operation::kMultiGet, keys);
  RequestParser parser(kLimits);
  std::uint64_t found = 0;
  Request request;
  for (std::size_t at = 0; at < bytes.size(); at += 100) {
    const std::string piece = bytes.substr(at, 100);
    parser.feed(piece);
    while (parser.next(request)) {
      for (const Item& item : request.items) found += item.key == keys[found] ? 1 : 0;
    }
  }
  EXPECT_EQ(found, keys.size());
  EXPECT_EQ(parser.pending_bytes(), 0u);
}

}  // namespace
}  // namespace ddprun::protocol
