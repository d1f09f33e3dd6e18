#include "launcher/stacks/proc_stacks.h"

#include <dirent.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "rendezvous/base/first_line.h"
#include "rendezvous/base/read_file.h"

namespace ddprun::stacks {
namespace {

constexpr std::size_t kMostThreads = 64;

std::vector<std::string> threads_of(const std::string& folder) {
  std::vector<std::string> threads;
  DIR* tasks = ::opendir(folder.c_str());
  if (tasks == nullptr) return threads;
  while (const dirent* entry = ::readdir(tasks))
    if (entry->d_name[0] != '.') threads.emplace_back(entry->d_name);
  ::closedir(tasks);
  return threads;
}

// "State:\tS (sleeping)" of the status file.
std::string state_in(std::string_view status) {
  const std::size_t at = status.find("State:\t");
  return at == status.npos ? "?" : first_line(status.substr(at + 7));
}

std::string part(const std::string& path, const char* name) {
  const std::string text = read_file(path + name).value_or("");
  return text.empty() ? "may not be read" : first_line(text);
}

std::string thread_text(const std::string& id, const std::string& path) {
  std::string text = "thread " + id + " '" + part(path, "comm") + "', state " +
                     state_in(read_file(path + "status").value_or("")) + "\n  waits in " +
                     part(path, "wchan") + ", system call " + part(path, "syscall") + "\n";
  const std::string stack = read_file(path + "stack").value_or("");
  if (!stack.empty()) text += "  in the kernel:\n" + stack;
  return text;
}

}  // namespace

std::string proc_stacks(pid_t pid) {
  const std::string folder = "/proc/" + std::to_string(pid) + "/task/";
  const std::vector<std::string> threads = threads_of(folder);
  std::string text;
  for (std::size_t i = 0; i < threads.size() && i < kMostThreads; ++i)
    text += thread_text(threads[i], folder + threads[i] + "/");
  if (threads.size() > kMostThreads)
    text += std::to_string(threads.size() - kMostThreads) + " more threads\n";
  return text;
}

}  // namespace ddprun::stacks
