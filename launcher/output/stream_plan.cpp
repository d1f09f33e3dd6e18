#include "launcher/output/stream_plan.h"

namespace ddprun::output {
namespace {

bool asked(const cli::StreamMap& map, Stream stream, int local_rank) {
  const cli::Streams streams = map.of(local_rank);
  return stream == Stream::out ? streams.out : streams.err;
}

StreamPlan plan_inherited(bool redirected, bool files, bool shown) {
  using Descriptor = StreamPlan::Descriptor;
  if (redirected && files) return {.descriptor = Descriptor::file, .file = true};
  if (redirected || !shown) return {.descriptor = Descriptor::null};
  return {.descriptor = Descriptor::inherited, .console = true};
}

}  // namespace

bool keeps_files(const Routing& routing) {
  return routing.files &&
         (routing.redirects.any() || routing.tee.any() || routing.filter_out || routing.filter_err);
}

StreamPlan plan_stream(const Routing& routing, Stream stream, int local_rank) {
  const bool tee = asked(routing.tee, stream, local_rank);
  const bool redirected = tee || asked(routing.redirects, stream, local_rank);
  const bool shown = !routing.console_ranks || routing.console_ranks->contains(local_rank);
  if (routing.mode == cli::OutputMode::inherit)
    return plan_inherited(redirected, routing.files, shown);
  const bool has_filters = stream == Stream::out ? routing.filter_out : routing.filter_err;
  const bool filterable = tee || (!redirected && !routing.tee.any());
  StreamPlan plan{.file = redirected && routing.files,
                  .console = shown && (tee || !redirected),
                  .filter = has_filters && filterable && routing.files};
  if (plan.file && !plan.console && !plan.filter) plan.descriptor = StreamPlan::Descriptor::file;
  return plan;
}

}  // namespace ddprun::output
