#include "worker_sdk/src/checkpoint/pickle.h"

#include <gmock/gmock.h>

#include <limits>

#include "tests/unit/checkpoint/error_of.h"

namespace ddp::detail::test {
namespace {

using testing::HasSubstr;

std::string pickle(const std::string& opcodes) {
  return "\x80\x02" + opcodes + ".";
}

std::string text(const std::string& letters) {
  return "X" + std::string(1, static_cast<char>(letters.size())) + std::string(3, '\0') + letters;
}

std::string refused(const std::string& opcodes, const PickleLimits& limits = {}) {
  return error_of([&] { read_pickle(pickle(opcodes), limits); });
}

template <class Kind>
Kind value_of(const std::string& opcodes) {
  const PickleGraph graph = read_pickle(pickle(opcodes));
  return std::get<Kind>(graph[graph.root]);
}

// The tree below a node, as Python would write it.
std::string show(const PickleGraph& graph, NodeId id) {
  const Node& node = graph[id];
  if (std::holds_alternative<std::monostate>(node)) return "None";
  if (const auto* set = std::get_if<bool>(&node)) return *set ? "True" : "False";
  if (const auto* number = std::get_if<std::int64_t>(&node)) return std::to_string(*number);
  if (const auto* number = std::get_if<double>(&node)) return std::to_string(*number);
  if (const auto* letters = std::get_if<std::string>(&node)) return in_quotes(*letters);
  std::string result;
  if (const auto* sequence = std::get_if<Sequence>(&node)) {
    for (const NodeId item : sequence->items) result += show(graph, item) + ",";
    return sequence->tuple ? "(" + result + ")" : "[" + result + "]";
  }
  if (const auto* mapping = std::get_if<Mapping>(&node)) {
    for (const auto& [key, item] : mapping->items) {
      result += show(graph, key) + ":" + show(graph, item) + ",";
    }
    return "{" + result + "}";
  }
  return "?";
}

std::string show(const PickleGraph& graph) {
  return show(graph, graph.root);
}

TEST(Pickle, Numbers) {
  EXPECT_EQ(value_of<std::int64_t>("K\xff"), 255);
  EXPECT_EQ(value_of<std::int64_t>(std::string("M\x00\x01", 3)), 256);
  EXPECT_EQ(value_of<std::int64_t>("J\xfb\xff\xff\xff"), -5);
  EXPECT_EQ(value_of<std::int64_t>(std::string("\x8a\0", 2)), 0);
  EXPECT_EQ(value_of<std::int64_t>("\x8a\x01\xff"), -1);
  EXPECT_EQ(value_of<std::int64_t>(std::string("\x8a\x05\x00\x00\x00\x00\x01", 7)),
            std::int64_t{1} << 32);
  EXPECT_EQ(value_of<double>(std::string("G\x3f\xf8\0\0\0\0\0\0", 9)), 1.5);
  EXPECT_TRUE(value_of<bool>("\x88"));
  EXPECT_FALSE(value_of<bool>("\x89"));
  EXPECT_THAT(refused("\x8a\x09" + std::string(9, '\1')), HasSubstr("more than 64 bits"));
}

TEST(Pickle, Containers) {
  const auto shown = [](const std::string& opcodes) { return show(read_pickle(pickle(opcodes))); };
  EXPECT_EQ(shown("(K\1K\2K\3t"), "(1,2,3,)");
  EXPECT_EQ(shown("K\1K\2K\3\x87"), "(1,2,3,)");
  EXPECT_EQ(shown("](K\1Ne"), "[1,None,]");
  EXPECT_EQ(shown("]K\1a"), "[1,]");
  EXPECT_EQ(shown("}(" + text("a") + "K\1K\2)u"), "{'a':1,2:(),}");
  EXPECT_EQ(shown("}" + text("a") + "]s"), "{'a':[],}");
  EXPECT_EQ(shown("ccollections\nOrderedDict\n)R" + text("a") + "K\1s"), "{'a':1,}");
  // Attributes of a dict are left out, whatever they are.
  EXPECT_EQ(shown("ccollections\nOrderedDict\n)R}" + text("_metadata") + "Nsb"), "{}");
  EXPECT_EQ(shown("ctorch\nSize\n](K\2K\3e\x85R"), "(2,3,)");
  EXPECT_EQ(shown("ctorch\ndevice\n" + text("cuda") + "\x85R"), "'cuda'");
  EXPECT_EQ(shown("ctorch\ndevice\n" + text("cuda") + "K\1\x86R"), "'cuda:1'");
}

TEST(Pickle, Memo) {
  const std::string zeros(3, '\0');
  const PickleGraph graph = read_pickle(pickle("](K\7q\5h\5j\5" + zeros + "r\6" + zeros + "h\6e"));
  EXPECT_EQ(show(graph), "[7,7,7,7,]");
}

TEST(Pickle, WritesWhatItReads) {
  PickleGraph graph;
  const auto key = [&](const char* letters) { return graph.add(std::string(letters)); };
  Mapping all;
  all.items.emplace_back(key("none"), graph.add(std::monostate{}));
  all.items.emplace_back(key("yes"), graph.add(true));
  Sequence numbers;
  for (const std::int64_t each :
       {std::int64_t{0}, std::int64_t{255}, std::int64_t{256}, std::int64_t{-1},
        std::int64_t{1} << 40, std::numeric_limits<std::int64_t>::min(),
        std::numeric_limits<std::int64_t>::max()}) {
    numbers.items.push_back(graph.add(each));
  }
  numbers.items.push_back(graph.add(-0.25));
  all.items.emplace_back(key("numbers"), graph.add(numbers));
  all.items.emplace_back(graph.add(std::int64_t{7}), graph.add(Sequence{true, {}}));
  graph.root = graph.add(all);
  EXPECT_EQ(show(read_pickle(write_pickle(graph))), show(graph));
}

TEST(Pickle, RefusesToWriteWhatPythonCannotRead) {
  PickleGraph graph;
  graph.root = graph.add(std::string("a\xff"));
  EXPECT_THAT(error_of([&] { write_pickle(graph); }), HasSubstr("'a\\xff' is not UTF-8"));
}

TEST(Pickle, RefusesEveryOtherGlobal) {
  EXPECT_THAT(refused("cos\nsystem\n" + text("rm") + "\x85R"),
              HasSubstr("names the global 'os.system', which a checkpoint of weights has no use "
                        "for"));
  for (const char* name : {"builtins\neval", "torch\nload", "torch\n", "\n", "torch.storage\n_load",
                           "collections\nOrderedDic", "torch._utils\n_rebuild_qtensor"}) {
    EXPECT_THAT(refused(std::string("c") + name + "\n"), HasSubstr("names the global")) << name;
  }
  // What terminals would obey is not sent to them.
  EXPECT_THAT(refused("co\x1b[2Js\nx\n"), HasSubstr("'o\\x1b[2Js.x'"));
}

TEST(Pickle, RefusesWrongCalls) {
  EXPECT_THAT(refused("ccollections\nOrderedDict\nK\1\x85R"), HasSubstr("with 1 arguments"));
  EXPECT_THAT(refused("K\1)R"), HasSubstr("a call is none"));
  EXPECT_THAT(refused("ctorch\nSize\n]R"), HasSubstr("a call is none"));
  EXPECT_THAT(refused("ctorch\nFloatStorage\n)R"), HasSubstr("it calls 'torch.FloatStorage'"));
  EXPECT_THAT(refused("ctorch\nFloatStorage\n"), HasSubstr("as a value"));
  EXPECT_EQ(refused("ctorch\nfloat32\n"), "");
}

TEST(Pickle, RefusesDamage) {
  for (const char* opcodes :
       {"",     "(",  "0",     "a", "]a", "K\1K\2a", "K\1K\2K\3s", "}(K\1u", "t",    "h\1",
        "(q\1", "]b", ")K\1a", "R", "Q",  "K\1Q",    "NK\1s",      "i",      "\x81", "("}) {
    EXPECT_NE(refused(opcodes), "") << opcodes;
  }
  const std::string whole = pickle("}(" + text("a") + "K\1" + text("b") + "](K\2NeN)u");
  for (std::size_t size = 0; size + 1 < whole.size(); ++size) {
    EXPECT_NE(error_of([&] { read_pickle(whole.substr(0, size)); }), "") << size;
  }
  EXPECT_THAT(error_of([] { read_pickle("\x80\x04N."); }), HasSubstr("protocol 4, expected 2"));
  EXPECT_THAT(refused("}N)s"), HasSubstr("neither a string nor an integer"));
  EXPECT_THAT(refused("r\xff\xff\xff\xff"), HasSubstr("damaged"));
  EXPECT_THAT(refused("Nr\xff\xff\xff\xff"), HasSubstr("memo is too large"));
  EXPECT_THAT(refused("X\xff\xff\xff\xff"), HasSubstr("cut"));
}

TEST(Pickle, RefusesTooMuch) {
  std::string list = "]";
  for (int i = 0; i < 100; ++i) list += "Na";
  EXPECT_THAT(refused(list, {.values = 100}), HasSubstr("more than 100 values"));
  EXPECT_THAT(refused(std::string(101, '('), {.values = 100}), HasSubstr("stack is too deep"));
  EXPECT_EQ(refused(std::string(64, ']') + std::string(63, 'a')), "");
  EXPECT_THAT(refused(std::string(66, ']') + std::string(65, 'a')), HasSubstr("64 deep"));
}

// Ten lists of ten times the one before are ten thousand million values in a hundred bytes.
TEST(Pickle, RefusesBombsOfSharedValues) {
  std::string bomb = "]q\1";
  for (int i = 0; i < 10; ++i)
    bomb += "0](" + std::string("h\1h\1h\1h\1h\1h\1h\1h\1h\1h\1") + "eq\1";
  std::erase(bomb, '0');
  EXPECT_THAT(refused(bomb), HasSubstr("when shared ones are copied"));
  std::string texts = "(" + text(std::string(100, 'x')) + "q\1";
  for (int i = 0; i < 50; ++i) texts += "h\1";
  EXPECT_THAT(refused(texts + "t", {.values = 100}), HasSubstr("when shared ones are copied"));
}

TEST(Pickle, RefusesCircles) {
  EXPECT_THAT(refused("]q\1h\1a"), HasSubstr("hold themselves"));
  EXPECT_THAT(refused("]q\1}" + text("a") + "h\1sa"), HasSubstr("hold themselves"));
  EXPECT_THAT(refused("]q\1(h\1h\1h\1h\1e"), HasSubstr("hold themselves"));
}

}  // namespace
}  // namespace ddp::detail::test
