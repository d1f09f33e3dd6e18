// Prints what is installed beside the program: print_pages man|bash|zsh|fish|tcsh. Run by the
// build, so that a page cannot tell of another option table than the program's.
#include <cstdio>
#include <string>

#include "launcher/cli/completion.h"
#include "packaging/man/manual.h"

int main(int argc, char** argv) {
  const std::string page = argc == 2 ? argv[1] : "";
  const auto shell = ddprun::cli::shell_named(page);
  if (page != "man" && !shell) {
    std::fputs("usage: print_pages man|bash|zsh|fish|tcsh\n", stderr);
    return 2;
  }
  const std::string text =
      shell ? ddprun::cli::completion_script(*shell) : ddprun::packaging::manual_page();
  return std::fputs(text.c_str(), stdout) < 0 || std::fflush(stdout) != 0;
}
