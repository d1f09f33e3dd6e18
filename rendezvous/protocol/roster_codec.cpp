#include "rendezvous/protocol/roster_codec.h"

#include <array>
#include <boost/json/monotonic_resource.hpp>
#include <boost/json/parse.hpp>
#include <utility>

#include "rendezvous/protocol/roster_frames.h"
#include "rendezvous/protocol/roster_reader.h"
#include "rendezvous/protocol/roster_writer.h"

namespace ddprun::protocol {
namespace {

// An agent's Held has an Assignment with nodes in it: five levels. The rest is for later versions.
constexpr std::size_t kMaxDepth = 16;

// In the order of the variants.
constexpr std::array<std::string_view, std::variant_size_v<AgentMessage>> kAgentTypes{
    "join",        "started", "failed", "drained", "finished",  "leave", "pong",
    "stacks_done", "status",  "cancel", "stacks",  "challenge", "answer"};
constexpr std::array<std::string_view, std::variant_size_v<ServerMessage>> kServerTypes{
    "welcome",   "waiting",  "assignment",    "stop",          "restart",
    "abort",     "closed",   "refused",       "ping",          "take_stacks",
    "notice",    "stopping", "status_answer", "cancel_answer", "stacks_answer",
    "challenge", "answer",   "store_clients", "elsewhere"};
constexpr std::array<std::string_view, std::variant_size_v<Record>> kRecordTypes{"run", "end"};

template <class Message, class Types>
std::string json_of(const Message& message, const Types& types) {
  std::string json = "{";
  Writer writer(json);
  writer.text("type", std::string(types[message.index()]), kMaxName);
  std::visit([&](const auto& each) { fields(writer, each); }, message);
  json += '}';
  return json;
}

template <class Message, std::size_t I>
Result<Message> read_alternative(const boost::json::object& object, std::string_view type) {
  std::variant_alternative_t<I, Message> message;
  Reader reader(object, std::string(type));
  fields(reader, message);
  if (!reader.error().empty()) return Error{reader.error()};
  return Message(std::move(message));
}

Error unknown_type(std::string_view type) {
  return Error{"a message of type \"" + std::string(type.substr(0, kMaxName)) +
               "\" is not known here"};
}

template <class Message, std::size_t... I>
Result<Message> read_type(const boost::json::object& object, std::string_view type,
                          const std::array<std::string_view, sizeof...(I)>& types,
                          std::index_sequence<I...>) {
  Result<Message> result = unknown_type(type);
  static_cast<void>(
      ((types[I] == type && (result = read_alternative<Message, I>(object, type), true)) || ...));
  return result;
}

template <class Message, class Types>
Result<Message> decode_as(std::string_view json, const Types& types) {
  boost::json::monotonic_resource memory;
  boost::json::parse_options options;
  options.max_depth = kMaxDepth;
  boost::json::error_code error;
  const auto value = boost::json::parse(json, error, &memory, options);
  if (error) return Error{"a roster message is not JSON: " + error.message()};
  if (!value.is_object())
    return Error{"a roster message is " + found(value) + ", an object is needed"};
  const boost::json::value* type = value.get_object().if_contains("type");
  if (type == nullptr) return Error{"a roster message has no \"type\""};
  if (!type->is_string())
    return Error{"a roster message's \"type\" is " + found(*type) + ", a string is needed"};
  return read_type<Message>(value.get_object(), type->get_string(), types,
                            std::make_index_sequence<std::variant_size_v<Message>>());
}

}  // namespace

// Where the server should be there may be a program that waits for a line, such as a web server,
// and answers this one.
void encode(std::string& out, const AgentMessage& message) {
  encode_frame(out, json_of(message, kAgentTypes) + "\n");
}

Result<void> encode(std::string& out, const ServerMessage& message) {
  const std::string json = json_of(message, kServerTypes);
  if (json.size() > kMaxFrameBytes)
    return Error{std::string(type_name(message)) + " has " + std::to_string(json.size()) +
                 " bytes, which is larger than the 1 MiB of a message"};
  encode_frame(out, json);
  return {};
}

Result<AgentMessage> decode_agent_message(std::string_view json) {
  return decode_as<AgentMessage>(json, kAgentTypes);
}

Result<ServerMessage> decode_server_message(std::string_view json) {
  return decode_as<ServerMessage>(json, kServerTypes);
}

std::string encode(const Record& record) {
  return json_of(record, kRecordTypes);
}

// What fits together in itself, for whoever carries on with it.
Result<Record> decode_record(std::string_view json) {
  auto record = decode_as<Record>(json, kRecordTypes);
  if (!record) return record.error();
  if (const auto* end = std::get_if<EndRecord>(&*record);
      end != nullptr && end->abort.has_value() == end->closed.has_value())
    return Error{"end: one of \"abort\" and \"closed\" is needed"};
  const auto* run = std::get_if<RunRecord>(&*record);
  if (run == nullptr || !run->round) return record;
  const Assignment& assignment = run->round->assignment;
  if (assignment.nodes.empty() || assignment.nodes.size() != run->round->nodes.size())
    return Error{"run.round: " + std::to_string(assignment.nodes.size()) + " nodes have a place, " +
                 std::to_string(run->round->nodes.size()) + " are described"};
  if (run->next_round <= assignment.round)
    return Error{"run: \"next_round\" is not behind the last one"};
  return record;
}

std::string_view type_name(const AgentMessage& message) {
  return kAgentTypes[message.index()];
}

std::string_view type_name(const ServerMessage& message) {
  return kServerTypes[message.index()];
}

std::optional<NodePlace> place_of(const Assignment& assignment, MemberId member) {
  NodePlace place{.nodes = static_cast<int>(assignment.nodes.size()),
                  .world_size = assignment.world_size};
  for (const AssignedNode& node : assignment.nodes) {
    place.nproc = node.nproc;
    if (node.member == member) return place;
    ++place.node_rank;
    place.first_rank += node.nproc;
  }
  return {};
}

std::optional<Refused> refuse_number(std::uint32_t peer_number, std::string_view version) {
  if (peer_number == kRosterProtocol) return {};
  return Refused{"the server's ddprun " + std::string(version) + " speaks roster protocol " +
                 std::to_string(kRosterProtocol) + ", this node's speaks " +
                 std::to_string(peer_number) + ": install the same version of ddprun on all nodes"};
}

}  // namespace ddprun::protocol
