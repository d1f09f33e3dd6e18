// The one table of options. The scanner, the Program_options description, --help and whatever else
// lists options are made from it, so that none of them can disagree.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "launcher/cli/apply.h"
#include "rendezvous/base/result.h"

namespace ddprun::cli {

enum class Group { job, rendezvous, hosts, devices, stopping, output, results, old_lines };

// Ready: works. Later: refused as not available yet, but for values that ask for what is built
// anyway.
enum class Availability { ready, later };

struct Option {
  std::string_view name;          // spelled with dashes, without the leading ones
  char letter = 0;                // -n; 0 where there is none
  std::string_view alias = {};    // a second long name
  std::string_view metavar = {};  // empty: a flag. "[=X]": a flag that may have a value after `=`
  Group group = Group::job;
  Availability availability = Availability::ready;
  Apply apply = nullptr;       // null: every value of it is for a later version
  std::string_view help = {};  // ready options only
  bool torchrun = false;       // torchrun has it, so its prefixes count
  bool variable = true;        // PET_<NAME> is its default
  bool free_text = false;      // its value may be empty and contain blanks, `$` and `--`
  bool repeatable = false;     // each time it is given counts, not only the last
  // A variable of torchrun's whose value counts where there is neither option nor PET_<NAME>.
  std::string_view second_variable = {};
  bool alias_of_torchrun = false;  // the alias, not the name, is what torchrun calls it

  // It is there to be refused with advice, and named nowhere.
  bool never_there() const { return apply == apply::logs_specs || apply == apply::token; }
  bool takes_value() const { return !metavar.empty() && !optional_value(); }
  // --help and the like: printed and over, whatever else is there.
  bool ends_the_scan() const {
    return name == "help" || name == "version" || name == "print-completion";
  }
  bool optional_value() const { return metavar.starts_with('['); }
  // What torchrun calls it; empty where torchrun has no such option.
  std::string_view torchrun_name() const {
    if (alias_of_torchrun) return alias;
    return torchrun ? name : std::string_view();
  }
};

// The groups in the order of --help, and how they are called there.
struct Heading {
  Group group;
  std::string_view title;
};
std::span<const Heading> headings();

// All options in the order of --help.
std::span<const Option> options();

// The option whose name or alias is exactly `name` (dash spelling), or null.
const Option* find_option(std::string_view name);
const Option* find_option(char letter);

// The option a user means by `name` in either spelling: an exact name, or a prefix that torchrun
// takes (its two spellings count as two there, so `nproc` is ambiguous and `nproc_` is not). The
// error names the candidates or the nearest option.
Result<const Option*> resolve_option(std::string_view name);

// "--tee 0..3|MAP": how it is written, without its letter.
std::string written(const Option& option);

// "PET_NPROC_PER_NODE"; empty for an option without a variable.
std::string variable_of(const Option& option);

// "nproc_per_node" -> "nproc-per-node" and back.
std::string with_dashes(std::string_view name);
std::string with_underscores(std::string_view name);

// The name that is most like `name` (dash spelling), or empty where none is alike.
std::string_view nearest_option(std::string_view name);

// "--NAME" in the middle of `word` where NAME is an option: what is left of a line continuation
// without a blank.
std::optional<std::string_view> find_glued_option(std::string_view word);

}  // namespace ddprun::cli
