// filtered_stdout.log: the lines of all ranks that contain one of some texts.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/output/line_splitter.h"
#include "launcher/output/log_file.h"
#include "launcher/output/prefix.h"

namespace ddprun::output {

// Those of `lines` (whole lines) that contain one of `texts`, each behind `prefix`. Pure.
std::string matching_lines(std::string_view lines, const std::vector<std::string>& texts,
                           std::string_view prefix);

// One file for all workers of an attempt. Counterpart: the `filtered_stdout` of torchrun's
// PContext.
class FilteredLog {
 public:
  // `failed` is called once, with the file's path and the errno, when it cannot be written.
  FilteredLog(LogFile file, std::vector<std::string> texts,
              std::function<void(const std::string&, int)> failed)
      : file_(std::move(file)), texts_(std::move(texts)), failed_(std::move(failed)) {}

  void add(std::string_view prefix, std::string_view lines);

 private:
  LogFile file_;
  std::vector<std::string> texts_;
  std::function<void(const std::string&, int)> failed_;
};

// One worker's stream on its way into a FilteredLog.
class LineFilter {
 public:
  LineFilter(std::shared_ptr<FilteredLog> log, Prefix prefix)
      : log_(std::move(log)), prefix_(std::move(prefix)) {}

  // Bytes in pieces of any size.
  void add(std::string_view bytes);
  // At the end of the stream: a last line without newline counts too.
  void finish();

 private:
  void add_lines(std::string_view lines);

  std::shared_ptr<FilteredLog> log_;
  Prefix prefix_;
  LineSplitter splitter_;
};

}  // namespace ddprun::output
