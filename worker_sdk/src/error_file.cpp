#include "worker_sdk/src/error_file.h"

#include <exception>

#include "worker_sdk/src/checkpoint/atomic_file.h"
#include "worker_sdk/src/checkpoint/json_cursor.h"

namespace ddp::detail {
namespace {

// The text of an exception may hold anything, such as bytes of a foreign file.
std::string text(std::string raw) {
  if (!is_utf8(raw)) {
    for (char& c : raw) {
      if (static_cast<unsigned char>(c) >= 0x80) c = '?';
    }
  }
  return json_string(raw);
}

std::string waiting(const std::vector<int>& ranks) {
  std::string list;
  for (const int rank : ranks) list += (list.empty() ? "" : ", ") + std::to_string(rank);
  return list.empty() ? "" : ", \"waited_for\": [" + list + "]";
}

}  // namespace

std::string error_json(const std::string& message, const std::string& stack, std::int64_t time,
                       const std::vector<int>& waited_for) {
  return "{\"message\": {\"message\": " + text(message) +
         ", \"extraInfo\": {\"py_callstack\": " + text(stack) + ", \"timestamp\": \"" +
         std::to_string(time) + "\"" + waiting(waited_for) + "}}}";
}

std::string write_error_file(const std::string& path, const std::string& json) {
  try {
    AtomicFile file(path);
    file.write(json);
    file.commit();
    return "";
  } catch (const std::exception& error) {
    return error.what();
  }
}

}  // namespace ddp::detail
