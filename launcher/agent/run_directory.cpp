#include "launcher/agent/run_directory.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "rendezvous/base/unique_fd.h"

namespace ddprun::agent {
namespace {

constexpr std::size_t kLongestErrorFile = std::size_t{16} << 20;

Error failed(const std::string& what, const std::string& path, bool named = false) {
  return {"cannot " + what + " '" + path + "': " + std::strerror(errno) +
          (named ? "; name another --log-dir" : "; set TMPDIR to a folder that can be written to")};
}

// A worker may change its directory, so paths must not be relative.
std::string absolute(const std::string& path) {
  std::error_code failed;
  const std::filesystem::path whole = std::filesystem::absolute(path, failed);
  std::string text = failed ? path : whole.lexically_normal().string();
  if (text.size() > 1 && text.back() == '/') text.pop_back();
  return text;
}

// A base that somebody else prepared, or a link to somewhere else, is not ours to use.
bool is_private(const std::string& path) {
  struct stat info {};
  return ::lstat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == ::geteuid() &&
         (info.st_mode & 022) == 0;
}

Result<void> prepare_private(const std::string& base) {
  if (::mkdir(base.c_str(), 0700) != 0 && errno != EEXIST)
    return failed("make the directory", base);
  if (is_private(base)) return {};
  return Error{"'" + base +
               "' is not a directory that belongs to this user alone; remove it, or set TMPDIR "
               "to another folder"};
}

Result<void> prepare_named(const std::string& base) {
  std::error_code error;
  if (std::filesystem::is_directory(base, error)) return {};
  std::filesystem::create_directories(base, error);
  if (!error && std::filesystem::is_directory(base, error)) return {};
  errno = error ? error.value() : ENOTDIR;
  return failed("use the log directory", base, true);
}

std::string file_name(std::string text) {
  constexpr std::size_t kLongest = 100;
  if (text.size() > kLongest) text.resize(kLongest);
  for (char& c : text)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '-' && c != '.') c = '_';
  return text;
}

}  // namespace

std::string random_text(int length) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz012345";
  std::string text(static_cast<std::size_t>(length), '\0');
  if (::getrandom(text.data(), text.size(), 0) < 0)
    throw std::system_error(errno, std::generic_category(), "getrandom");
  for (char& letter : text) letter = kLetters[static_cast<unsigned char>(letter) % kLetters.size()];
  return text;
}

std::string default_base(const char* tmpdir) {
  std::string folder = tmpdir != nullptr ? tmpdir : "";
  if (folder.empty()) folder = ::access("/dev/shm", W_OK | X_OK) == 0 ? "/dev/shm" : "/tmp";
  return absolute(folder) + "/ddprun-" + std::to_string(::geteuid());
}

LogBase log_base(const std::optional<std::string>& log_dir, const char* tmpdir) {
  if (log_dir) return {.path = absolute(*log_dir), .named = true};
  return {.path = default_base(tmpdir)};
}

Result<RunDirectory> RunDirectory::create(const LogBase& base, const std::string& run_id) {
  if (auto ready = base.named ? prepare_named(base.path) : prepare_private(base.path); !ready)
    return ready.error();
  for (int tries = 0; tries < 100; ++tries) {
    std::string path = base.path + "/" + file_name(run_id) + "_" + random_text(8);
    if (::mkdir(path.c_str(), 0700) == 0) return RunDirectory(std::move(path));
    if (errno != EEXIST) break;
  }
  return failed("make a directory in", base.path, base.named);
}

Result<RunDirectory> RunDirectory::share(const LogBase& base, const std::string& name) {
  if (auto ready = base.named ? prepare_named(base.path) : prepare_private(base.path); !ready)
    return ready.error();
  const std::string path = base.path + "/" + file_name(name);
  if (::mkdir(path.c_str(), 0700) != 0 && (errno != EEXIST || !is_private(path)))
    return failed("make the directory", path, base.named);
  RunDirectory directory(path);
  directory.shared_ = true;
  return directory;
}

RunDirectory::~RunDirectory() {
  if (kept_) return;
  for (auto path = made_.rbegin(); path != made_.rend(); ++path) ::rmdir(path->c_str());
}

const std::string& RunDirectory::path() const {
  static const std::string kNone;
  return made_.empty() ? kNone : made_.front();
}

std::string RunDirectory::attempt_path(int attempt) const {
  return made_.empty() ? "" : path() + "/attempt_" + std::to_string(attempt);
}

std::string RunDirectory::worker_path(int attempt, int rank) const {
  return made_.empty() ? "" : attempt_path(attempt) + "/" + std::to_string(rank);
}

std::string RunDirectory::error_file(int attempt, int rank) const {
  return made_.empty() ? "" : worker_path(attempt, rank) + "/error.json";
}

Result<void> RunDirectory::make(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) != 0) {
    std::error_code error;
    if (errno == ENOENT) std::filesystem::create_directories(path, error);
    if (error) errno = error.value();
    if (error || !std::filesystem::is_directory(path, error))
      return failed("make the directory", path);
  }
  made_.push_back(path);
  return {};
}

Result<void> RunDirectory::make_worker_directory(int attempt, int rank) {
  if (made_.empty()) return {};
  if (std::exchange(attempt_, attempt) != attempt)
    if (auto made = make(attempt_path(attempt)); !made) return made;
  return make(worker_path(attempt, rank));
}

Result<void> RunDirectory::link_latest() const {
  const std::filesystem::path run(path());
  const std::string latest = run.parent_path() / "latest";
  const std::string fresh = latest + "." + random_text(8);
  struct stat info {};
  int error = 0;
  if (::lstat(latest.c_str(), &info) == 0 && !S_ISLNK(info.st_mode))
    error = EEXIST;
  else if (::symlink(run.filename().c_str(), fresh.c_str()) != 0)
    error = errno;
  else if (::rename(fresh.c_str(), latest.c_str()) != 0)
    error = errno;
  if (error == 0) return {};
  ::unlink(fresh.c_str());
  return Error{"cannot make '" + latest + "' a link to this run: " + std::strerror(error)};
}

void RunDirectory::remove() {
  if (kept_) return;
  while (!made_.empty() && ::rmdir(made_.back().c_str()) == 0) made_.pop_back();
  std::error_code ignored;
  if (!made_.empty() && !shared_) std::filesystem::remove_all(path(), ignored);
  // Others may still be at work in it.
  for (auto each = made_.rbegin(); shared_ && each != made_.rend(); ++each) {
    const bool of_worker = each->size() > path().size() && std::isdigit(each->back()) != 0 &&
                           std::filesystem::path(*each).parent_path() != path();
    if (of_worker) std::filesystem::remove_all(*each, ignored);
    ::rmdir(each->c_str());
  }
  made_.clear();
}

std::string read_error_file(const std::string& path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat info {};
  if (!file || ::fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode)) return {};
  std::string text;
  char buffer[65536];
  for (ssize_t got;
       text.size() < kLongestErrorFile && (got = ::read(file.get(), buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<std::size_t>(got));
  return text;
}

}  // namespace ddprun::agent
