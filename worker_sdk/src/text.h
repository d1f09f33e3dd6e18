// Words for messages.
#pragma once

#include <chrono>
#include <string>
#include <unordered_map>
#include <vector>

namespace ddp::detail {

// "0-3, 5" for {0, 1, 2, 3, 5}; "none" for an empty list. `ranks` ascend.
std::string rank_list(const std::vector<int>& ranks);

// "2.5 s".
std::string seconds(std::chrono::milliseconds duration);

// Whether a failed Gloo operation says that the connection to another rank is gone.
bool is_lost_peer(const std::string& what);

// Whether it says that another rank did not come in time: this operation's wait is over, or one's
// before it.
bool is_late_peer(const std::string& what);

// Whether it comes from the barrier before a checked operation (TORCH_DISTRIBUTED_DEBUG=DETAIL) or
// from monitored_barrier, to which a rank did not come that hangs or has ended.
bool is_failed_barrier(const std::string& what);

// The members of the group that did not come to that barrier, for rank 0, which alone hears who;
// by their index, ascending.
std::vector<int> missing_at_barrier(const std::string& what);

// Whether no rank is done with the operation before all others have come to it. Where one is done
// as soon as it has sent its part, who has not waited in vain may yet have taken part.
bool waits_for_all(const std::string& operation);

// Who did not come, as a sentence with its meaning: "Rank 1 does not take part: it hangs, is slower
// than the time-out, or calls other collectives". If not `sure`, one of `who` is meant; empty:
// another rank.
std::string who_is_late(const std::vector<int>& who, bool sure = true);

// What a failed Gloo operation says, for people: without the place in Gloo's source, and with what
// a broken connection or a time-out means. `who`: the ranks that are lost or late, where known;
// if not `sure`, one of them is.
std::string explain_gloo(const std::string& what, const std::vector<int>& who = {},
                         bool sure = true);

// What the Reducer says when parameters got no gradient in the last backward, in words of this SDK
// and with the parameters' names, `names` by their index; any other text as it is.
// `looks_for_them`: find_unused_parameters is on.
std::string explain_unused(const std::string& said,
                           const std::unordered_map<std::size_t, std::string>& names,
                           bool looks_for_them);

// c10d counts in the group: "Rank 1 is …" becomes "Rank 5 is …" where ranks[1] is 5.
std::string with_global_ranks(const std::string& text, const std::vector<int>& ranks);

}  // namespace ddp::detail
