#include "launcher/output/filtered_log.h"

#include <algorithm>
#include <utility>

namespace ddprun::output {

std::string matching_lines(std::string_view lines, const std::vector<std::string>& texts,
                           std::string_view prefix) {
  std::string found;
  while (!lines.empty()) {
    const std::size_t newline = lines.find('\n');
    const std::string_view line = lines.substr(0, newline == lines.npos ? newline : newline + 1);
    const auto is_in_line = [line](const std::string& text) {
      return line.find(text) != line.npos;
    };
    if (std::ranges::any_of(texts, is_in_line)) found.append(prefix).append(line);
    lines.remove_prefix(line.size());
  }
  return found;
}

void FilteredLog::add(std::string_view prefix, std::string_view lines) {
  if (!failed_) return;
  const std::string found = matching_lines(lines, texts_, prefix);
  if (found.empty()) return;
  const int error = file_.write(found);
  if (error != 0) std::exchange(failed_, nullptr)(file_.path(), error);
}

void LineFilter::add(std::string_view bytes) {
  splitter_.feed(bytes, [this](std::string_view lines) { add_lines(lines); });
}

void LineFilter::finish() {
  splitter_.finish([this](std::string_view lines) { add_lines(lines); });
}

void LineFilter::add_lines(std::string_view lines) {
  log_->add(prefix_.text(prefix_.has_time() ? time_text(std::chrono::system_clock::now()) : ""),
            lines);
}

}  // namespace ddprun::output
