// Runs a real ddprun (or any program) from a test, with a hard limit on its life.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

#include "rendezvous/base/unique_fd.h"
#include "tests/support/temporary_folder.h"

namespace ddprun::test {

// How a program ended and what it wrote.
struct Finished {
  bool timed_out = false;
  int code = -1;   // exit code; -1 when a signal ended it
  int signal = 0;  // the signal that ended it; 0 when it exited
  std::string out;
  std::string err;
  std::chrono::milliseconds took{0};
};

struct RunOptions {
  std::vector<std::string> environment;  // "NAME=value", added to a small fixed environment
  std::string input;                     // file for its stdin; empty: /dev/null
  bool ignore_hangup = false;            // as nohup does
  std::chrono::seconds limit{20};        // then it is killed and `timed_out`
};

// A program that runs in a process group of its own. The destructor kills what is left. It does not
// outlive this process where the main thread has started it.
class Program {
 public:
  explicit Program(std::vector<std::string> words, RunOptions options = {});
  ~Program();
  Program(const Program&) = delete;

  pid_t pid() const { return pid_; }
  // Reads until what it has written to stdout (or stderr) contains `text`. False when it ended, or
  // its limit passed, before.
  bool wait_for_output(const std::string& text);
  bool wait_for_error(const std::string& text);
  // The same until stdout contains `text` so many times.
  bool wait_for_output(const std::string& text, int times);
  const std::string& out() const { return out_; }
  // Waits for its end without reading what it writes; false when the limit has passed.
  bool wait_for_end();
  // Waits for its end and for the end of its output.
  Finished finish();

 private:
  bool read_some();
  bool wait_for(const std::string& text, const std::string& in);

  pid_t pid_ = 0;
  UniqueFd out_end_, err_end_;
  std::string out_, err_;
  std::chrono::steady_clock::time_point started_, deadline_;
  bool timed_out_ = false;
  bool reaped_ = false;
};

// Starts, waits, returns.
Finished run(std::vector<std::string> words, RunOptions options = {});
// The same with the built ddprun in front of the words.
Finished ddprun(std::vector<std::string> words, RunOptions options = {});
// The same with a command line for bash.
Finished run_shell(const std::string& command_line, RunOptions options = {});
std::vector<std::string> ddprun_words(std::vector<std::string> words);

// How often `text` is in `in`.
int count_of(const std::string& text, const std::string& in);
// All lines of a text, without their newlines.
std::vector<std::string> lines(const std::string& text);
// True once no process has `marker` in its command line any more; waits at most `limit`.
bool nobody_has(const std::string& marker, std::chrono::milliseconds limit);
// True once /proc shows the state (a letter: R, S, T, Z, …) for the process; waits at most `limit`.
bool comes_to_state(pid_t pid, char state,
                    std::chrono::milliseconds limit = std::chrono::seconds(10));
// True once the process gets nothing written any more, because nobody reads; waits at most `limit`.
bool is_stuck_writing(pid_t pid, std::chrono::milliseconds limit = std::chrono::seconds(10));
// Pids of processes that have `marker` in their command line.
std::vector<pid_t> pids_with(const std::string& marker);

}  // namespace ddprun::test
