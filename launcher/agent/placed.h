// From the binding of a plan to what the kernel is asked for, and back to words.
#pragma once

#include <optional>
#include <string>

#include "launcher/plan/launch_plan.h"
#include "launcher/process/place.h"

namespace ddprun::agent {

// None where the worker is not bound.
std::optional<process::Placement> placement_of(const plan::WorkerPlan& worker);

// One line for the user about the first worker whose placement was refused; "" when nothing was.
std::string refusal_text(const plan::WorkerPlan& worker, const process::PlacementErrors& errors);

}  // namespace ddprun::agent
