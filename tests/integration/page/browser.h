// A headless Chromium that a test drives: one tab, a profile of its own in a temporary folder, and
// no way out of this host.
#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "tests/integration/support/run.h"

namespace ddprun::test {

// It is spoken to by Chromium's DevTools protocol, over two named pipes. Everything here throws
// std::runtime_error with the browser's own words when it does not answer within its limit.
class Browser {
 public:
  // Whether there is one in the PATH.
  static bool is_installed();

  // `width` and `height` in pixels of CSS, those of a desk or of a phone.
  explicit Browser(int width = 1200, int height = 800);
  ~Browser();
  Browser(const Browser&) = delete;

  void resize(int width, int height);
  // What the user prefers: prefers-color-scheme, "light" or "dark".
  void prefer_color_scheme(std::string_view scheme);
  // Returns when the page is loaded.
  void open(const std::string& url);
  // Returns when the tab has loaded a page once more without having been told to.
  void await_load();
  // The value of an expression of JavaScript in the page.
  boost::json::value evaluate(const std::string& expression);
  // The same for one that is a text.
  std::string text_of(const std::string& expression);
  // A PNG of the whole page, however long, in base64. The page does not refresh itself any more.
  std::string picture();

 private:
  using Clock = std::chrono::steady_clock;

  boost::json::object call(std::string_view method, boost::json::object parameters = {});
  boost::json::object next_message(Clock::time_point deadline);
  void write(const std::string& bytes);

  TemporaryFolder folder_;
  UniqueFd commands_, answers_;
  std::unique_ptr<Program> program_;
  std::string session_, received_;
  int width_ = 0;
  int calls_ = 0;
  int loads_ = 0;  // so far
};

}  // namespace ddprun::test
