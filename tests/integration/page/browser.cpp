#include "tests/integration/page/browser.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value_to.hpp>
#include <stdexcept>
#include <vector>

#include "rendezvous/base/read_file.h"

namespace ddprun::test {
namespace {

namespace json = boost::json;

constexpr std::chrono::seconds kLife(80);
constexpr std::chrono::seconds kPatience(40);  // a cold start on a busy machine takes ten

// Both ends, so that opening it waits for nobody.
UniqueFd open_fifo(const std::string& path) {
  return UniqueFd(::open(path.c_str(), O_RDWR | O_CLOEXEC));
}

std::vector<std::string> chromium(const TemporaryFolder& folder) {
  const std::vector<std::string> words{
      "exec chromium",
      "--headless",
      "--no-sandbox",  // which root may not have
      "--disable-gpu",
      "--disable-dev-shm-usage",  // a container may have little of it
      "--user-data-dir=" + folder / "profile",
      "--remote-debugging-pipe",
      "--no-proxy-server",
      "--host-resolver-rules='MAP * ~NOTFOUND, EXCLUDE 127.0.0.1'",
      "--disable-background-networking",
      "--disable-breakpad",
      "--disable-component-update",
      "--disable-extensions",
      "--disable-sync",
      "--hide-scrollbars",
      "--no-first-run",
      "about:blank",
      "3<" + folder / "commands",
      "4>" + folder / "answers",
      ">" + folder / "log 2>&1"};
  std::string line;
  for (const std::string& word : words) line += word + " ";
  return {"/bin/bash", "-c", line};
}

}  // namespace

bool Browser::is_installed() {
  return run_shell("command -v chromium").code == 0;
}

Browser::Browser(int width, int height)
    : commands_(open_fifo(folder_.make_fifo("commands"))),
      answers_(open_fifo(folder_.make_fifo("answers"))),
      program_(std::make_unique<Program>(chromium(folder_), RunOptions{.limit = kLife})) {
  const json::object target = call("Target.createTarget", {{"url", "about:blank"}});
  const json::object attached =
      call("Target.attachToTarget", {{"targetId", target.at("targetId")}, {"flatten", true}});
  session_ = json::value_to<std::string>(attached.at("sessionId"));
  call("Page.enable");
  resize(width, height);
}

Browser::~Browser() {
  session_.clear();
  try {
    call("Browser.close");
  } catch (const std::exception&) {
    return;  // it is killed then
  }
  program_->finish();
}

void Browser::resize(int width, int height) {
  width_ = width;
  call("Emulation.setDeviceMetricsOverride",
       {{"width", width}, {"height", height}, {"deviceScaleFactor", 1}, {"mobile", false}});
}

void Browser::prefer_color_scheme(std::string_view scheme) {
  const json::object feature{{"name", "prefers-color-scheme"}, {"value", scheme}};
  call("Emulation.setEmulatedMedia", {{"features", json::array{feature}}});
}

void Browser::open(const std::string& url) {
  const int before = loads_;
  const auto deadline = Clock::now() + kPatience;
  const json::object answer = call("Page.navigate", {{"url", url}});
  if (answer.contains("errorText"))
    throw std::runtime_error(url + ": " + json::serialize(answer.at("errorText")));
  while (loads_ == before) next_message(deadline);
}

void Browser::await_load() {
  const auto deadline = Clock::now() + kPatience;
  for (const int before = loads_; loads_ == before;) next_message(deadline);
}

json::value Browser::evaluate(const std::string& expression) {
  const json::object answer =
      call("Runtime.evaluate", {{"expression", expression}, {"returnByValue", true}});
  if (answer.contains("exceptionDetails"))
    throw std::runtime_error(expression + ": " + json::serialize(answer));
  const json::value* value = answer.at("result").as_object().if_contains("value");
  return value == nullptr ? json::value() : *value;
}

std::string Browser::text_of(const std::string& expression) {
  return json::value_to<std::string>(evaluate(expression));
}

std::string Browser::picture() {
  evaluate("window.stop()");  // a page that is loaded anew meanwhile has no picture
  const json::value height = evaluate("document.documentElement.scrollHeight");
  resize(width_, height.to_number<int>());
  const json::object answer = call("Page.captureScreenshot", {{"format", "png"}});
  return json::value_to<std::string>(answer.at("data"));
}

json::object Browser::call(std::string_view method, json::object parameters) {
  const auto deadline = Clock::now() + kPatience;
  const int id = ++calls_;
  json::object command{{"id", id}, {"method", method}, {"params", std::move(parameters)}};
  if (!session_.empty()) command["sessionId"] = session_;
  write(json::serialize(command) + '\0');
  while (true) {
    json::object message = next_message(deadline);
    const json::value* answered = message.if_contains("id");
    if (answered == nullptr || *answered != id) continue;
    if (message.contains("error"))
      throw std::runtime_error(std::string(method) + ": " + json::serialize(message.at("error")));
    return message.at("result").as_object();
  }
}

json::object Browser::next_message(Clock::time_point deadline) {
  std::size_t end = 0;
  while ((end = received_.find('\0')) == std::string::npos) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
    pollfd entry{answers_.get(), POLLIN, 0};
    if (left.count() <= 0 || ::poll(&entry, 1, static_cast<int>(left.count())) <= 0)
      throw std::runtime_error("Chromium says nothing any more; it has logged: " +
                               read_file(folder_ / "log").value_or(""));
    std::string some(64 << 10, '\0');
    const ssize_t size = ::read(answers_.get(), some.data(), some.size());
    if (size > 0) received_.append(some, 0, static_cast<std::size_t>(size));
  }
  const json::value message = json::parse(std::string_view(received_).substr(0, end));
  received_.erase(0, end + 1);
  const json::object& fields = message.as_object();
  if (const json::value* event = fields.if_contains("method"))
    if (*event == "Page.loadEventFired") ++loads_;
  return fields;
}

void Browser::write(const std::string& bytes) {
  for (std::size_t sent = 0; sent < bytes.size();) {
    const ssize_t size = ::write(commands_.get(), bytes.data() + sent, bytes.size() - sent);
    if (size <= 0) throw std::runtime_error("Chromium takes no commands");
    sent += static_cast<std::size_t>(size);
  }
}

}  // namespace ddprun::test
