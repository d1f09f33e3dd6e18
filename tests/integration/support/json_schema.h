// Checks JSON against a JSON Schema (draft 2020-12), as far as our own schemas go.
#pragma once

#include <boost/json/value.hpp>
#include <string>
#include <vector>

namespace ddprun::test {

// What is wrong with `value`, one line for each fault with the place in front ("/ranks/0/pid: …");
// empty when it fits. Knows type, const, enum, properties, required, additionalProperties, items,
// minimum, pattern and $ref to "#/$defs/…"; any other keyword but the describing ones is a fault of
// its own, so that no rule of a schema is passed over.
std::vector<std::string> schema_faults(const boost::json::value& value,
                                       const boost::json::value& schema);

}  // namespace ddprun::test
