// The private directory of one run: LOG_DIR/RUN_ID_xxxxxxxx/attempt_N/RANK/.
//
// It is always there, because workers may write an error.json (PyTorch's `record` does) and need a
// place for it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "rendezvous/base/result.h"

namespace ddprun::agent {

class RunDirectory {
 public:
  // Makes `base`/RUN_ID_xxxxxxxx with mode 0700; characters of the id that are no good in a file
  // name become `_`. `base` itself is made too if it is missing; if it is there it has to be a
  // directory of this user that nobody else can write to, because it lies where everybody can.
  static Result<RunDirectory> create(const std::string& base, const std::string& run_id);
  RunDirectory(RunDirectory&&) = default;
  RunDirectory& operator=(RunDirectory&&) = delete;
  // Removes what it has made unless there is a file in it: an empty tree is of no use to anybody.
  ~RunDirectory();

  // Makes the directory of one worker, for its error_file().
  Result<void> make_worker_directory(int attempt, int rank);
  std::string attempt_path(int attempt) const;
  // Where a worker writes its error.json.
  std::string error_file(int attempt, int rank) const;
  // Removes everything, files included.
  void remove();

 private:
  explicit RunDirectory(std::string path) { made_.push_back(std::move(path)); }

  const std::string& path() const { return made_.front(); }
  Result<void> make(std::string path);

  int attempt_ = -1;               // the one whose directory was made last
  std::vector<std::string> made_;  // parents before their children; empty once it was moved from
};

// TMPDIR/ddprun-UID. Without TMPDIR it is /dev/shm/ddprun-UID, in memory, and where that cannot be
// written to /tmp/ddprun-UID: on a busy disk, making and removing a directory takes longer than
// everything else that ddprun does.
std::string default_base(const char* tmpdir);

// Lower-case letters and digits that nobody can guess.
std::string random_text(int length);

// The text of an error.json, at most 16 MiB of it; empty when it is not there or no plain file.
std::string read_error_file(const std::string& path);

}  // namespace ddprun::agent
