// The roster's fixed spans and codes.
#pragma once

#include <chrono>
#include <cstddef>

namespace ddprun::roster {

// How long the cause of a failure may stay open, and how long before a node's loss a worker's
// failure elsewhere is charged to it.
inline constexpr std::chrono::milliseconds kSettle{200};
// A member whose place somebody else claims has to answer within this.
inline constexpr std::chrono::milliseconds kAnswer{1000};
// What a run's first node may choose for keep_alive_interval and keep_alive_max_attempt; a shorter
// interval counts as the least one.
inline constexpr std::chrono::milliseconds kMinPingInterval{10};
inline constexpr std::chrono::hours kMaxSilence{1};  // interval times attempts
// Waiting nodes hear of changes at once in worlds up to this, in larger ones after a pause, so that
// n nodes that come one by one cost n messages and not n squared.
inline constexpr std::size_t kSmallWorld = 16;
inline constexpr std::chrono::seconds kWaitingPause{1};
inline constexpr std::chrono::seconds kWaitingRepeat{10};
// After a minute it is no news any more.
inline constexpr std::chrono::seconds kWaitingOften{60};
inline constexpr std::chrono::seconds kWaitingRepeatLater{60};

inline constexpr int kExitNodeLost = 125;   // ddprun's own: it could not do its work
inline constexpr int kExitCancelled = 143;  // as if every ddprun had got a SIGTERM

}  // namespace ddprun::roster
