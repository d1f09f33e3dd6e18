// The private directory of one run: LOG_DIR/RUN_ID_xxxxxxxx/attempt_N/RANK/.
//
// It is always there, because workers may write an error.json (PyTorch's `record` does) and need a
// place for it.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rendezvous/base/result.h"

namespace ddprun::agent {

// Where run directories are made.
struct LogBase {
  std::string path;
  // Named by --log-dir: made with its parents if it is missing, and it may belong to others. Else
  // it is made if only it itself is missing, and it has to be a directory of this user that nobody
  // else can write to, because it lies where everybody can.
  bool named = false;
};

class RunDirectory {
 public:
  // Makes `base`/RUN_ID_xxxxxxxx with mode 0700; characters of the id that are no good in a file
  // name become `_`.
  static Result<RunDirectory> create(const LogBase& base, const std::string& run_id);
  // Makes `base`/`name`, or takes it as it is: agents of one job share it where they share the
  // disk, and each removes only what its own workers had.
  static Result<RunDirectory> share(const LogBase& base, const std::string& name);
  // For --log-dir /dev/null: nothing is made and all paths are empty.
  static RunDirectory none() { return {}; }
  RunDirectory(RunDirectory&&) = default;
  RunDirectory& operator=(RunDirectory&&) = delete;
  // Removes what it has made unless there is a file in it or it is kept: an empty tree is of no use
  // to anybody.
  ~RunDirectory();

  // Makes the directory of one worker, for its error_file() and its log files; attempts come one
  // after the other. What somebody has removed meanwhile is made again.
  Result<void> make_worker_directory(int attempt, int rank);
  // Empty with none().
  const std::string& path() const;
  std::string attempt_path(int attempt) const;
  std::string worker_path(int attempt, int rank) const;
  // Where a worker writes its error.json.
  std::string error_file(int attempt, int rank) const;

  // Somebody asked for the files in it: it stays, whatever happens.
  void keep() { kept_ = true; }
  bool kept() const { return kept_; }
  // Makes LOG_DIR/latest a link to it, in one step, so that the name is always there; a `latest`
  // that is no link is somebody else's and stays.
  Result<void> link_latest() const;
  // Removes everything, files included, unless it is kept.
  void remove();

 private:
  RunDirectory() = default;
  explicit RunDirectory(std::string path) { made_.push_back(std::move(path)); }

  Result<void> make(const std::string& path);

  bool kept_ = false;
  bool shared_ = false;
  int attempt_ = -1;               // the one whose directory was made last
  std::vector<std::string> made_;  // parents before their children; empty once it was moved from
};

// The base for --log-dir, or default_base() where none is given.
LogBase log_base(const std::optional<std::string>& log_dir, const char* tmpdir);

// TMPDIR/ddprun-UID. Without TMPDIR it is /dev/shm/ddprun-UID, in memory, and where that cannot be
// written to /tmp/ddprun-UID: on a busy disk, making and removing a directory takes longer than
// everything else that ddprun does.
std::string default_base(const char* tmpdir);

// Lower-case letters and digits that nobody can guess.
std::string random_text(int length);

// The text of an error.json, at most 16 MiB of it; empty when it is not there or no plain file.
std::string read_error_file(const std::string& path);

}  // namespace ddprun::agent
