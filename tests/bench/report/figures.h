// Figures that ./dev bench left in JSON files, read again and made into a page of the manual.
#pragma once

#include <string>
#include <vector>

#include "rendezvous/base/result.h"
#include "tests/bench/table.h"

namespace ddprun::bench {

// What one file holds.
struct Figures {
  Facts facts;
  std::vector<Result> results;
};

// Reads what json() has written. `file` is for the message.
ddprun::Result<Figures> figures_from(const std::string& file, const std::string& text);

// The figures of several files. Where two files have a group, all of it is taken from the later
// one. Files without a group left are dropped.
std::vector<Figures> merged(std::vector<Figures> files);

// The name of each group in `figures`, in the order in which they come.
std::vector<std::string> groups_of(const std::vector<Figures>& figures);

// A chart beside its page.
struct Picture {
  std::string group;  // whose rows it shows
  std::string path;   // as seen from the page
  std::string title;
};

// What all files agree on as a list; then each group with its charts, the other facts and its
// table.
std::string figures_section(const std::vector<Figures>& figures,
                            const std::vector<Picture>& pictures);

// `page` with `section` between its two marks, which are comments, instead of what was there.
inline constexpr char kBeginMark[] = "<!-- written by ./dev bench report -->\n";
inline constexpr char kEndMark[] = "<!-- end of what ./dev bench report has written -->\n";
ddprun::Result<std::string> with_section(const std::string& page, const std::string& section);

}  // namespace ddprun::bench
