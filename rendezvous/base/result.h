// How an expected failure travels: as a value with one sentence for a person.
//
// Exceptions are left to programming errors and to the edges of libraries.
#pragma once

#include <boost/system/result.hpp>
#include <stdexcept>
#include <string>

namespace ddprun {

// `text` says what was tried, on what, what was found and what to do next. No trailing full stop or
// newline is needed; whoever prints it adds the program's name.
struct Error {
  std::string text;
};

// A T, or why there is none. `return Error{"…"};` and `return value;` both convert.
template <class T>
using Result = boost::system::result<T, Error>;

// Found by Boost.System when .value() is called on a failed Result, which is a programming error.
[[noreturn]] inline void throw_exception_from_error(const Error& error,
                                                    const boost::source_location&) {
  throw std::logic_error("value() of a failed Result: " + error.text);
}

}  // namespace ddprun
