// Programs that are found on a port where a rendezvous was expected.
#pragma once

#include <string>
#include <string_view>

namespace ddprun::client {

// What somebody is who answers with `bytes` instead of the roster protocol: "a web server (it
// answers 'HTTP/1.1 400 Bad Request')", "a program that wants TLS". Pure.
std::string describe_stranger(std::string_view bytes);

}  // namespace ddprun::client
