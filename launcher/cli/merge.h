// Which value of each option counts: the command line's last one, else the one of its variable.
#pragma once

#include <string>
#include <vector>

#include "launcher/cli/environment.h"
#include "launcher/cli/scanner.h"

namespace ddprun::cli {

// An option that was given somewhere.
struct Setting {
  const Option* option;
  std::string value;
  std::string label;  // where it was given, as a message names it: "--tee" or "PET_TEE"
  bool from_variable;
};

// "--tee 3", "PET_TEE=3" or "--standalone": how the user wrote it.
std::string written(const Setting& setting);

// The settings in the order of the option table, each option at most once, but repeatable ones as
// often as they were typed. A variable that is there but empty counts, so that it can be named.
// Values are not looked into.
std::vector<Setting> merge(const std::vector<Given>& given, const Environment& environment);

// Takes out what another setting makes meaningless and returns one line for each such case:
// --master-port with --standalone, for example. What is taken out is not validated.
std::vector<std::string> drop_meaningless(std::vector<Setting>& settings);

// One line for each PET_* variable that no option has.
std::vector<std::string> unknown_variables(const Environment& environment);

}  // namespace ddprun::cli
