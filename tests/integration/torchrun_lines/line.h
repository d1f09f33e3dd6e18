// One of the recorded command lines.
#pragma once

#include <boost/json.hpp>
#include <ostream>
#include <string>
#include <vector>

namespace ddprun::test {

struct Line {
  std::string id;
  std::vector<std::string> environment;  // "NAME=value"
  std::vector<std::string> words;        // for ddprun: without the launcher's own name
  std::string kind;                      // what torchrun did: "ran", "parsed", "error"
  boost::json::object parsed;            // values of torchrun's options; empty with "error"
  boost::json::array ranks;              // {rank, args, env}; empty unless it ran

  std::string option(
      const std::string& name) const;  // of `parsed` as text; "" where it is not there
  std::vector<std::string> script_arguments() const;
  bool several_nodes() const;

  friend void PrintTo(const Line& line, std::ostream* out);
};

// All lines of the file.
std::vector<Line> read_lines();

std::vector<std::string> texts_of(const boost::json::value& array);

}  // namespace ddprun::test
