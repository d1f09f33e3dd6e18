#include "packaging/man/roff.h"

#include "rendezvous/base/version.h"

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

std::string of_this_release(std::string_view front) {
  std::string page(front);
  page.replace(page.find("DATE"), 4, DDPRUN_RELEASE_DATE);
  page.replace(page.find("VERSION"), 7, version());
  return page;
}

}  // namespace ddprun::packaging
