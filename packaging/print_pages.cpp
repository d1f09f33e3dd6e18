// Prints what is installed beside the programs: print_pages man|rdzvd|rdzvctl|bash|zsh|fish|tcsh.
// Run by the build, so that a page cannot tell of another option table than the program's.
#include <cstdio>
#include <string>

#include "launcher/cli/completion.h"
#include "packaging/man/daemon_pages.h"
#include "packaging/man/manual.h"

namespace {

std::string page_named(const std::string& name) {
  if (name == "man") return ddprun::packaging::manual_page();
  if (name == "rdzvd") return ddprun::packaging::rdzvd_page();
  if (name == "rdzvctl") return ddprun::packaging::rdzvctl_page();
  const auto shell = ddprun::cli::shell_named(name);
  return shell ? ddprun::cli::completion_script(*shell) : "";
}

}  // namespace

int main(int argc, char** argv) {
  const std::string text = page_named(argc == 2 ? argv[1] : "");
  if (text.empty()) {
    std::fputs("usage: print_pages man|rdzvd|rdzvctl|bash|zsh|fish|tcsh\n", stderr);
    return 2;
  }
  return std::fputs(text.c_str(), stdout) < 0 || std::fflush(stdout) != 0;
}
