// The error.json that a worker may write: PyTorch's `record` decorator, or a C++ worker with the
// SDK.
#pragma once

#include <string>
#include <vector>

namespace ddprun::report {

struct ErrorFile {
  std::string text;                    // all of it; empty: none was written
  std::vector<std::string> message;    // lines; empty when the file cannot be understood
  std::vector<std::string> callstack;  // lines of Python's traceback; often empty
  std::vector<int> waited_for;         // ranks that it waited for in vain; the SDK's alone
  std::string remark;                  // why the file cannot be understood; empty when it can
};

// Understands {"message": {"message": "…", "extraInfo": {"py_callstack": "…"}}} and {"message":
// "…"}. Anything else, for example half a file of a worker that was killed while it wrote, gives a
// remark and no error; no text gives an empty one.
ErrorFile parse_error_file(std::string json);

// The text with `code` as "errorCode" of its message, as torchrun passes an error file on, and
// without the ranks it waited for, which are none of the launcher's it is passed to. A text without
// a message object stays as it is.
std::string with_error_code(const std::string& json, int code);

}  // namespace ddprun::report
