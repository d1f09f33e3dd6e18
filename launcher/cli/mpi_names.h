// What mpirun and its like call options that ddprun has under another name.
//
// Pure.
#pragma once

#include <string>
#include <string_view>

namespace ddprun::cli {

// What to write in the place of `word`, a word with one dash or two, perhaps with a value behind:
// "--hosts a:8,b:8" for "-H" and "-host". Empty where it is no such name.
std::string_view in_place_of_mpi_name(const std::string& word);

}  // namespace ddprun::cli
