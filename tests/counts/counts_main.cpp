// Counts the instructions of the workloads and of whole runs of ddprun, and compares them with the
// record: a slower program is noticed on any machine, however busy it is.
//
//   ddprun_counts --recorded FILE --workloads FILE --ddprun FILE [--record] [--profiles FOLDER]
//                 [NAME…]
//
// Without names: all. Ends with 0, or with 1 when something has become worse or was not counted, or
// with 77 when nothing can be compared here. --record writes FILE anew instead. --profiles keeps
// what callgrind_annotate reads.
#include <gnu/libc-version.h>

#include <boost/version.hpp>
#include <cstdio>
#include <exception>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "rendezvous/base/read_file.h"
#include "tests/counts/callgrind.h"
#include "tests/counts/counted.h"
#include "tests/counts/record.h"

namespace ddprun::counts {
namespace {

constexpr int kSkipped = 77;

struct Options {
  std::string recorded, workloads, ddprun, profiles;
  bool record = false;
  std::vector<std::string> names;
};

struct Counted {
  std::string name, what;
  Count count;
};

BuiltWith built_with() {
  return {{"arch", DDPRUN_COUNTS_ARCH},
          {"boost", BOOST_LIB_VERSION},
          {"build", DDPRUN_COUNTS_BUILD},
          {"compiler", DDPRUN_COUNTS_COMPILER},
          {"libc", gnu_get_libc_version()}};
}

std::vector<Counted> all_counted(const Options& options) {
  std::vector<Counted> all;
  for (const Workload& workload : workloads())
    all.push_back({workload.name,
                   std::to_string(workload.items) + " " + workload.what,
                   {{options.workloads, workload.name}, kCountedFunction}});
  all.push_back({"version", "ddprun --version, both processes", {{options.ddprun, "--version"}}});
  all.push_back(
      {"dry_run",
       "ddprun --dry-run of 64 workers, both processes",
       {{options.ddprun, "-n", "64", "--simulate-gpus", "64", "--dry-run", "/bin/true"}}});
  for (Counted& each : all)
    if (!options.profiles.empty())
      each.count.profile = options.profiles + "/callgrind." + each.name + ".%p";
  return all;
}

std::vector<Counted> chosen(const Options& options) {
  const std::vector<Counted> all = all_counted(options);
  if (options.names.empty()) return all;
  std::vector<Counted> some;
  for (const std::string& name : options.names) {
    for (const Counted& each : all)
      if (each.name == name) some.push_back(each);
    if (some.empty() || some.back().name != name)
      throw std::invalid_argument("there is no workload '" + name + "'");
  }
  return some;
}

Record recorded(const Options& options) {
  const auto text = read_file(options.recorded);
  if (!text) throw std::runtime_error(options.recorded + " cannot be read");
  auto record = parse_record(*text);
  if (!record) throw std::runtime_error(options.recorded + ": " + record.error().text);
  return *record;
}

int write_record(const Options& options) {
  if (!options.names.empty()) throw std::invalid_argument("--record records all, so name none");
  Record record{.built_with = built_with()};
  for (const Counted& each : all_counted(options)) {
    const auto count = instructions_of(each.count);
    if (!count) throw std::runtime_error(each.name + ": " + count.error().text);
    std::printf("%s: %llu instructions (%s)\n", each.name.c_str(),
                static_cast<unsigned long long>(*count), each.what.c_str());
    std::fflush(stdout);
    record.instructions[each.name] = *count;
  }
  std::ofstream file(options.recorded);
  file << to_json(record);
  if (!file.flush()) throw std::runtime_error(options.recorded + " cannot be written");
  return 0;
}

// Whether it is as it should be.
bool check(const Record& record, const Counted& counted) {
  const auto count = instructions_of(counted.count);
  if (!count) {
    std::printf("%s: %s\n", counted.name.c_str(), count.error().text.c_str());
    return false;
  }
  const Verdict verdict = compare(record, counted.name, *count);
  std::printf("%s (%s)\n", verdict.text.c_str(), counted.what.c_str());
  std::fflush(stdout);
  return verdict.kind == Verdict::Kind::same || verdict.kind == Verdict::Kind::better;
}

int skip(const std::string& why) {
  std::printf("SKIPPED, no instructions were counted: %s\n", why.c_str());
  return kSkipped;
}

int run(const Options& options) {
  if (!has_valgrind()) return skip("there is no valgrind (Debian: apt install valgrind)");
  if (options.record) return write_record(options);
  const Record record = recorded(options);
  if (const auto why = not_comparable(record.built_with, built_with()))
    return skip("the counts would mean nothing beside the record; " + *why);
  bool good = true;
  for (const Counted& each : chosen(options)) good = check(record, each) && good;
  return good ? 0 : 1;
}

Options parse(const std::vector<std::string>& words) {
  Options options;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto value = [&] {
      if (i + 1 == words.size()) throw std::invalid_argument(words[i] + " needs a value");
      return words[++i];
    };
    if (words[i] == "--recorded") {
      options.recorded = value();
    } else if (words[i] == "--workloads") {
      options.workloads = value();
    } else if (words[i] == "--ddprun") {
      options.ddprun = value();
    } else if (words[i] == "--profiles") {
      options.profiles = value();
    } else if (words[i] == "--record") {
      options.record = true;
    } else if (words[i].starts_with("-")) {
      throw std::invalid_argument("there is no option " + words[i]);
    } else {
      options.names.push_back(words[i]);
    }
  }
  return options;
}

}  // namespace
}  // namespace ddprun::counts

int main(int argc, char** argv) try {
  return ddprun::counts::run(ddprun::counts::parse({argv + 1, argv + argc}));
} catch (const std::exception& error) {
  std::fprintf(stderr, "ddprun_counts: %s\n", error.what());
  return 1;
}
