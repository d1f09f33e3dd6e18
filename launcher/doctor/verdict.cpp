#include "launcher/doctor/verdict.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include "launcher/doctor/findings.h"
#include "launcher/report/json_text.h"

namespace ddprun::doctor {
namespace {

namespace json = boost::json;

constexpr std::size_t kSubjectWidth = 13;

const char* word_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::ok:
      return "ok";
    case Verdict::warn:
      return "warn";
    case Verdict::problem:
      return "problem";
  }
  return "?";
}

std::string padded(std::string text, std::size_t width) {
  text.resize(std::max(text.size(), width), ' ');
  return text;
}

std::size_t count(const std::vector<Finding>& findings, Verdict verdict) {
  return static_cast<std::size_t>(std::ranges::count(findings, verdict, &Finding::verdict));
}

}  // namespace

std::string plural(std::size_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

std::vector<Finding> examine(const Facts& facts) {
  std::vector<Finding> all = about_machine(facts);
  for (const auto& part : {about_software(facts), about_network(facts)})
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

std::string text(const Facts& facts, const std::vector<Finding>& findings) {
  std::string text = "ddprun " + facts.version + " on " + facts.kernel + ", " + facts.libc + ", " +
                     facts.time + "\n";
  for (const Finding& finding : findings) {
    text += padded(word_of(finding.verdict), 7) + "  " + padded(finding.subject, kSubjectWidth) +
            "  " + finding.text + "\n";
    if (!finding.advice.empty())
      text += std::string(7 + 2 + kSubjectWidth + 2, ' ') + "-> " + finding.advice + "\n";
  }
  const std::size_t problems = count(findings, Verdict::problem),
                    warnings = count(findings, Verdict::warn);
  if (problems + warnings == 0) return text + "nothing to complain of\n";
  return text + plural(problems, "problem") + ", " + plural(warnings, "warning") + "\n";
}

std::string json_text(const Facts& facts, const std::vector<Finding>& findings) {
  json::array list;
  for (const Finding& finding : findings)
    list.push_back({{"verdict", word_of(finding.verdict)},
                    {"subject", report::utf8(finding.subject)},
                    {"text", report::utf8(finding.text)},
                    {"advice", report::text_or_null(finding.advice)}});
  return report::pretty(json::object{{"ddprun", report::utf8(facts.version)},
                                     {"host", report::utf8(facts.host.name)},
                                     {"kernel", report::utf8(facts.kernel)},
                                     {"libc", report::utf8(facts.libc)},
                                     {"time", report::utf8(facts.time)},
                                     {"problems", count(findings, Verdict::problem)},
                                     {"warnings", count(findings, Verdict::warn)},
                                     {"findings", std::move(list)}});
}

int exit_code(const std::vector<Finding>& findings) {
  return count(findings, Verdict::problem) == 0 ? 0 : 1;
}

}  // namespace ddprun::doctor
