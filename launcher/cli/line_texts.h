// Values that are about lines of output: the template of their prefix, and filters.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rendezvous/base/result.h"

namespace ddprun::cli {

// The fields of a prefix template that are none of "rank local_rank role_name hostname attempt
// stream time", without `${` and `}`. `$name` is a field as well and `$$` a dollar, as in Python's
// string.Template.
std::vector<std::string> unknown_fields(std::string_view text);

// "'${x}' is not a field; did you mean ${y}? …" with the list of all fields.
std::string unknown_field_text(const std::string& field);

// --duplicate-*-filters: texts separated by commas; `,,` is a comma in a text. Empty texts, which
// would match every line, are left out as torchrun does.
std::vector<std::string> read_filters(std::string_view text);

}  // namespace ddprun::cli
