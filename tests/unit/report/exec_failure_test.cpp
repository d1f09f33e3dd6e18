#include "launcher/report/exec_failure.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>

#include "tests/support/temporary_folder.h"

namespace ddprun::report {
namespace {

using ::testing::HasSubstr;
using Kind = ProgramTraits::Kind;

ProgramTraits regular(std::string head) {
  return {Kind::regular, true, false, std::move(head), true};
}

std::string elf_for(unsigned char machine) {
  std::string head(
      "\x7f"
      "ELF\x02\x01\x01",
      7);
  head.resize(64, '\0');
  head[18] = static_cast<char>(machine);
  return head;
}

struct Case {
  const char* name;
  const char* program;
  int error;
  ProgramTraits file;
  int code;
  const char* text;
};

void PrintTo(const Case& one, std::ostream* out) {
  *out << one.name;
}

class ExecFailures : public ::testing::TestWithParam<Case> {};

TEST_P(ExecFailures, AreExplained) {
  const ExecFailure failure =
      explain_exec_failure(GetParam().program, GetParam().error, GetParam().file);
  EXPECT_EQ(failure.code, GetParam().code);
  EXPECT_EQ(failure.text, GetParam().text);
}

INSTANTIATE_TEST_SUITE_P(
    Cases, ExecFailures,
    ::testing::Values(
        Case{"missing",
             "./nope",
             ENOENT,
             {},
             127,
             "cannot start './nope': no such file or directory"},
        Case{"not_in_path", "nope", ENOENT, {}, 127, "cannot start 'nope': not found in PATH"},
        Case{"only_here",
             "train",
             ENOENT,
             {Kind::missing, false, true, "", false},
             127,
             "cannot start 'train': not found in PATH; to start the one in this directory write "
             "'./train'"},
        Case{"empty_name", "", ENOENT, {}, 127, "cannot start '': the name is empty"},
        Case{"not_a_directory",
             "f/x",
             ENOTDIR,
             {},
             127,
             "cannot start 'f/x': a part of its path is not a directory"},
        Case{"interpreter", "./a.sh", ENOENT, regular("#! /no/such/sh -e\necho\n"), 126,
             "cannot start './a.sh': its interpreter '/no/such/sh' (from its '#!' line) does not "
             "exist"},
        Case{"dos", "./a.sh", ENOENT, regular("#!/bin/sh\r\necho\r\n"), 126,
             "cannot start './a.sh': its '#!' line ends with a carriage return (DOS line ends)"},
        Case{"directory",
             "./d",
             EACCES,
             {Kind::directory, false, false, "", false},
             126,
             "cannot start './d': it is a directory"},
        Case{"no_x_bit",
             "./a",
             EACCES,
             {Kind::regular, false, false, "", true},
             126,
             "cannot start './a': permission denied, it is not executable (chmod +x makes it so)"},
        Case{"noexec_mount", "./a", EACCES, regular(elf_for(62)), 126,
             "cannot start './a': permission denied"},
        Case {
          "foreign_elf", "./a", ENOEXEC, regular(elf_for(21)), 126,
#if defined(__x86_64__)
              "cannot start './a': it is built for ppc64, this machine is x86_64"
#else
              "cannot start './a': it is built for ppc64, this machine is aarch64"
#endif
        },
        Case{"text", "./a", ENOEXEC, regular("echo hello\n"), 126,
             "cannot start './a': it is a text file without a '#!' line; add one, or name its "
             "interpreter in "
             "front of it"},
        Case{"empty_file", "./a", ENOEXEC, regular(""), 126,
             "cannot start './a': the file is empty"},
        Case{"binary", "./a", ENOEXEC, regular(std::string("\1\0\2", 3)), 126,
             "cannot start './a': it is in no format that this machine can execute"},
        Case{"too_long", "./a", E2BIG, regular(""), 126,
             "cannot start './a': its arguments and environment are too long"},
        Case{"no_processes", "./a", EAGAIN, regular(""), 125,
             "cannot start './a': resource temporarily unavailable"},
        Case{"evil_name",
             "./\x1b[2J\n",
             ENOENT,
             {},
             127,
             "cannot start './\\x0a': no such file or directory"}),
    [](const auto& test) { return test.param.name; });

// Files on disk that the kernel really refuses.
class RealPrograms : public ::testing::Test {
 protected:
  std::string path() const { return folder_ / "program"; }
  void write(const std::string& text, mode_t mode) {
    std::ofstream(path()) << text;
    ASSERT_EQ(::chmod(path().c_str(), mode), 0);
  }
  std::string explain(const std::string& program) {
    char* arguments[] = {nullptr, nullptr};
    arguments[0] = const_cast<char*>(program.c_str());
    char* environment[] = {nullptr};
    EXPECT_EQ(::execve(program.c_str(), arguments, environment), -1);
    return explain_exec_failure(program, errno, look_at_program(program, program)).text;
  }

  const test::TemporaryFolder folder_;
};

TEST_F(RealPrograms, AMissingOne) {
  EXPECT_THAT(explain(path()), HasSubstr("no such file or directory"));
}

TEST_F(RealPrograms, ADirectory) {
  EXPECT_THAT(explain(folder_.path()), HasSubstr("it is a directory"));
}

TEST_F(RealPrograms, AMissingInterpreter) {
  write("#!/no/such/interpreter\n", 0755);
  EXPECT_THAT(explain(path()), HasSubstr("its interpreter '/no/such/interpreter'"));
}

TEST_F(RealPrograms, TextWithoutInterpreterLine) {
  write("echo hello\n", 0755);
  EXPECT_THAT(explain(path()), HasSubstr("a text file without a '#!' line"));
}

TEST_F(RealPrograms, NoPermission) {
  write("#!/bin/sh\n", 0644);
  EXPECT_THAT(explain(path()), HasSubstr("it is not executable (chmod +x"));
}

TEST_F(RealPrograms, AForeignArchitecture) {
  write(elf_for(21), 0755);
  EXPECT_THAT(explain(path()), HasSubstr("it is built for ppc64, this machine is "));
}

TEST(LoaderOf, FindsTheDynamicLoaderOfARealProgram) {
  const std::string head = look_at_program("/proc/self/exe", "/proc/self/exe").head;
  EXPECT_THAT(loader_of(head), HasSubstr("/ld-linux"));
}

TEST(LoaderOf, SurvivesACutHeader) {
  const std::string head = look_at_program("/proc/self/exe", "/proc/self/exe").head;
  for (std::size_t size = 0; size < head.size(); size += 7)
    loader_of(std::string_view(head).substr(0, size));
  EXPECT_EQ(loader_of(std::string_view(head).substr(0, 70)), "");
  EXPECT_EQ(loader_of("#!"), "");
  EXPECT_EQ(loader_of("#!/bin/sh"), "/bin/sh");
}

}  // namespace
}  // namespace ddprun::report
