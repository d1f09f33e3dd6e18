// The devices and processes of a node's workers in few words.
#pragma once

#include <string>
#include <vector>

#include "rendezvous/protocol/roster_messages.h"

namespace ddprun::http {

// "GPU 0–7", "GPU 0, 2–3", "8 × CPU": devices that count up, or are the same, are taken together.
// By local rank, so who has which can be counted; at most 16 such parts.
std::string devices_text(const std::vector<protocol::Started::Worker>& workers);
// "901–908, 917".
std::string pids_text(const std::vector<protocol::Started::Worker>& workers);

}  // namespace ddprun::http
