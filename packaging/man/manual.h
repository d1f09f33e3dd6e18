// The manual page ddprun(1), made from the option table.
#pragma once

#include <string>

namespace ddprun::packaging {

// The page in roff with the man macros, for man(1) and mandoc(1) alike.
std::string manual_page();

}  // namespace ddprun::packaging
