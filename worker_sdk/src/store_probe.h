// Waits for a store of PyTorch's protocol, and can say why it did not come.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace ddp::detail {

// Tries to connect to host:port, again and again, until a store answers (nothing) or `timeout` has
// passed (the last reason, such as "Connection refused"). What answers and is no store is a reason
// at once. `on_long_wait` is called once with the reason when ten seconds have passed. The
// connection is closed at once. LibTorch's own client keeps the reason to itself, and waits for
// ever for the answer of a server that is none, so this is asked first.
std::optional<std::string> wait_for_server(
    const std::string& host, std::uint16_t port, std::chrono::milliseconds timeout,
    const std::function<void(const std::string& reason)>& on_long_wait);

}  // namespace ddp::detail
