// Every option is in everything that lists options.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "launcher/cli/completion.h"
#include "launcher/cli/help.h"
#include "launcher/cli/options.h"
#include "packaging/man/manual.h"

namespace ddprun::packaging {
namespace {

using cli::Option;
using cli::Shell;
using ::testing::HasSubstr;

// True if `text` has `name` and no letter, digit or dash goes on behind it.
bool has_word(const std::string& text, const std::string& name) {
  for (auto at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
    const char next = at + name.size() < text.size() ? text[at + name.size()] : ' ';
    if (std::isalnum(static_cast<unsigned char>(next)) == 0 && next != '-' && next != '_')
      return true;
  }
  return false;
}

// The text of a page without the requests for fonts and what keeps a dash a dash.
std::string plain(std::string text) {
  for (const char* font : {"\\fB", "\\fI", "\\fR"})
    for (auto at = text.find(font); at != std::string::npos; at = text.find(font, at))
      text.erase(at, 3);
  std::erase(text, '\\');
  return text;
}

std::string file_text(const char* path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(Pages, HaveEveryOption) {
  const std::string help = cli::help_text();
  const std::string manual = plain(manual_page());
  for (const Option& option : cli::options()) {
    const std::string name(option.name);
    // What will never be there is not offered: --token.
    EXPECT_TRUE(option.never_there() || has_word(help, "--" + name) ||
                has_word(help, "--" + cli::with_underscores(name)))
        << "the help does not have --" << name;
    EXPECT_TRUE(has_word(manual, "--" + name)) << "the manual page does not have --" << name;
    EXPECT_TRUE(has_word(cli::completion_script(Shell::bash), "--" + name)) << name;
    EXPECT_TRUE(has_word(cli::completion_script(Shell::zsh), "--" + name)) << name;
    EXPECT_TRUE(has_word(cli::completion_script(Shell::fish), "-l " + name)) << name;
    EXPECT_TRUE(has_word(cli::completion_script(Shell::tcsh), name)) << name;
  }
}

TEST(Pages, HaveOtherNamesAndLetters) {
  const std::string manual = plain(manual_page());
  for (const Option& option : cli::options()) {
    if (!option.alias.empty()) {
      EXPECT_THAT(manual, HasSubstr(", --" + std::string(option.alias)));
      EXPECT_THAT(cli::completion_script(Shell::bash), HasSubstr("--" + std::string(option.alias)));
    }
    if (option.letter != 0 && option.availability == cli::Availability::ready) {
      EXPECT_THAT(manual, HasSubstr(std::string("-") + option.letter + ", --"));
      EXPECT_THAT(cli::completion_script(Shell::fish),
                  HasSubstr(std::string(" -s ") + option.letter));
    }
  }
}

TEST(Pages, OfferTheWordsOfAValue) {
  const std::string bash = cli::completion_script(Shell::bash);
  EXPECT_THAT(bash, HasSubstr("--color) COMPREPLY=($(compgen -W 'auto always never'"));
  EXPECT_THAT(bash, HasSubstr("--log-dir|--log_dir) COMPREPLY=($(compgen -d"));
  EXPECT_THAT(cli::completion_script(Shell::zsh), HasSubstr(":output:(auto pty pipe inherit)'"));
  EXPECT_THAT(cli::completion_script(Shell::tcsh), HasSubstr("'n/--report/f/'"));
}

TEST(Manual, HasItsSections) {
  const std::string manual = manual_page();
  for (const char* section : {"NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXIT STATUS",
                              "ENVIRONMENT", "FILES", "EXAMPLES", "DIFFERENCES FROM TORCHRUN"})
    EXPECT_THAT(manual, HasSubstr("\n.SH " + std::string(section) + "\n"));
  EXPECT_EQ(manual.find("VERSION\""), std::string::npos);
}

TEST(FromTorchrun, HasEveryOptionAndVariableOfTorchrun) {
  const std::string page = file_text(DDPRUN_FROM_TORCHRUN);
  for (const Option& option : cli::options()) {
    if (option.torchrun_name().empty()) continue;
    EXPECT_TRUE(has_word(page, "--" + std::string(option.torchrun_name()))) << option.name;
    const std::string variable = cli::variable_of(option);
    EXPECT_TRUE(variable.empty() || has_word(page, variable)) << variable;
    EXPECT_TRUE(has_word(page, std::string(option.second_variable))) << option.second_variable;
  }
  for (const char* name : {"LOCAL_RANK",
                           "RANK",
                           "GROUP_RANK",
                           "ROLE_RANK",
                           "ROLE_WORLD_SIZE",
                           "ROLE_NAME",
                           "WORLD_SIZE",
                           "LOCAL_WORLD_SIZE",
                           "GROUP_WORLD_SIZE",
                           "MASTER_ADDR",
                           "MASTER_PORT",
                           "TORCHELASTIC_RESTART_COUNT",
                           "TORCHELASTIC_MAX_RESTARTS",
                           "TORCHELASTIC_RUN_ID",
                           "TORCHELASTIC_USE_AGENT_STORE",
                           "TORCHELASTIC_ERROR_FILE",
                           "TORCHELASTIC_TIMER_FILE",
                           "TORCHELASTIC_ENABLE_FILE_TIMER",
                           "TORCHELASTIC_SIGNALS_TO_HANDLE",
                           "TORCHELASTIC_HEALTH_CHECK_PORT",
                           "TORCH_NCCL_ASYNC_ERROR_HANDLING",
                           "OMP_NUM_THREADS",
                           "CUDA_VISIBLE_DEVICES",
                           "PYTHON_EXEC",
                           "LOGLEVEL",
                           "TMPDIR",
                           "USE_LIBUV",
                           "TORCH_DISABLE_SHARE_RDZV_TCP_STORE",
                           "TORCHELASTIC_ETCD_BINARY_PATH",
                           "TORCH_CPP_LOG_LEVEL",
                           "TORCH_WORKER_SERVER_SOCKET"})
    EXPECT_TRUE(has_word(page, name)) << name;
}

}  // namespace
}  // namespace ddprun::packaging
