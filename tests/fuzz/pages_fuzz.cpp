// Any texts as those that agents send of themselves, on the status page, in the metrics and as
// JSON: the page has the same elements as with harmless texts, so that none of them can add one; a
// metric has as many lines; JSON can be read and holds the texts. The input is lines, one for each
// text; a backslash and an n in them stand for a newline.
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <cstdint>

#include "rendezvous/http/metrics.h"
#include "rendezvous/http/page.h"
#include "tests/fuzz/checks.h"

namespace {

using namespace ddprun;
using fuzz::require;

using Texts = std::vector<std::string>;

std::string with_newlines(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool newline = text.substr(i).starts_with("\\n");
    out += newline ? '\n' : text[i];
    if (newline) ++i;
  }
  return out;
}

Texts read(std::string_view bytes) {
  Texts texts;
  for (const std::string_view line : fuzz::split(bytes, '\n')) {
    // What is not UTF-8 does not get through the roster protocol.
    texts.push_back(with_newlines(valid_utf8(line)));
  }
  return texts;
}

// `empty`: an empty text may stand for "there is none".
std::string text_at(const Texts& texts, std::size_t at, bool plain) {
  const std::string& text = texts[at % texts.size()];
  return plain && !text.empty() ? "x" : text;
}

http::View view_of(const Texts& texts, bool plain) {
  const auto text = [&](std::size_t at) { return text_at(texts, at, plain); };
  http::View view{.host = text(0), .version = text(1), .with_lines = true};
  for (std::size_t i = 0; i < 5; ++i) {
    roster::Snapshot run{.run = text(i), .round = 1, .store = text(2), .missing = text(3)};
    run.nodes.push_back({.node = text(4), .address = text(5)});
    run.nodes[0].workers = {{.pid = 1, .device = text(6)}, {.pid = 2, .device = text(7)}};
    run.last_failure =
        roster::Cause{.text = text(8), .node = text(9), .lines = {text(10), text(11)}};
    run.run_directory = text(12);
    view.runs.push_back(run);
  }
  view.runs_in_all = view.runs.size();
  return view;
}

// The elements of a page with the names of their attributes, without any content.
std::string elements(std::string_view html) {
  std::string out;
  bool in_element = false, in_value = false;
  for (const char c : html) {
    if (!in_element) {
      in_element = c == '<';
      if (in_element) out += c;
      continue;
    }
    if (c == '"') in_value = !in_value;
    if (!in_value) out += c;
    in_element = in_value || c != '>';
  }
  return out;
}

void check_page(const Texts& texts) {
  const std::string page = http::status_page(view_of(texts, false));
  require(elements(page) == elements(http::status_page(view_of(texts, true))));
  for (const char c : page)
    require(static_cast<unsigned char>(c) >= 0x20 || c == '\n' || c == '\t');
}

void check_metrics(const Texts& texts) {
  const std::string text = http::metrics(view_of(texts, false));
  const std::string plain = http::metrics(view_of(texts, true));
  require(std::ranges::count(text, '\n') == std::ranges::count(plain, '\n'));
  for (const std::string_view line : fuzz::split(text, '\n'))
    require(line.empty() || line.starts_with("# HELP rdzv_") || line.starts_with("# TYPE rdzv_") ||
            line.starts_with("rdzv_"));
}

void check_json(const Texts& texts) {
  const roster::Snapshot run = view_of(texts, false).runs.front();
  const std::string json = boost::json::serialize(roster::to_json(run, true));
  boost::system::error_code error;
  const boost::json::value value = boost::json::parse(json, error);
  require(!error && value.at("id").as_string() == run.run);
  require(value.at("last_failure").at("text").as_string() == run.last_failure->text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Texts texts = read(fuzz::view_of(data, size));
  check_page(texts);
  check_metrics(texts);
  check_json(texts);
  return 0;
}
