// The messages of the roster protocol as JSON: {"type": "join", "run": "…", …}.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "rendezvous/base/result.h"
#include "rendezvous/protocol/roster_messages.h"
#include "rendezvous/protocol/run_record.h"

namespace ddprun::protocol {

// Append one whole frame. Texts are made to fit: what is not UTF-8 becomes U+FFFD, and what is
// longer than the other side would take is cut, so whatever is sent can be read. What is cut fits
// into the 1 MiB of a message, so only a StatusAnswer can be too large, which is an Error, and
// nothing is appended; an Assignment has room for 4,096 nodes.
//
// A newline ends the JSON of an agent's message, so that a foreign program which reads lines
// answers.
void encode(std::string& out, const AgentMessage& message);
Result<void> encode(std::string& out, const ServerMessage& message);

// The message in one frame's JSON. Unknown members are ignored. The Error names the member and what
// was found: "join: \"nproc\" is a string, an integer is needed".
Result<AgentMessage> decode_agent_message(std::string_view json);
Result<ServerMessage> decode_server_message(std::string_view json);

// A record as JSON, without a frame; whatever was encoded can be decoded. The Error as above, or
// what does not fit together.
std::string encode(const Record& record);
Result<Record> decode_record(std::string_view json);

// What a server with protocol kRosterProtocol has to say to a peer with another number before it
// closes; nothing if the number is the same. `version` is the server's.
std::optional<Refused> refuse_number(std::uint32_t peer_number, std::string_view version);

}  // namespace ddprun::protocol
