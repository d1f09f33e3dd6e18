#include "packaging/man/roff.h"

namespace ddprun::packaging {

std::string roff(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '-') escaped += '\\';
    if (c == '\\')
      escaped += "\\e";
    else if (c == '\'')
      escaped += "\\(aq";
    else
      escaped += c;
  }
  return escaped;
}

}  // namespace ddprun::packaging
