// Writes the figures that ./dev bench left in JSON files into a page of the manual, and charts of
// them beside it: ./dev bench report calls it.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "rendezvous/base/read_file.h"
#include "tests/bench/report/charts.h"
#include "tests/bench/report/figures.h"

namespace {

using namespace ddprun::bench;
namespace fs = std::filesystem;

template <class T>
T value_of(ddprun::Result<T> result) {
  if (!result) throw std::runtime_error(result.error().text);
  return std::move(*result);
}

std::string content_of(const std::string& file) {
  const auto text = ddprun::read_file(file);
  if (!text) throw std::runtime_error("cannot read " + file);
  return *text;
}

void write(const fs::path& file, const std::string& text) {
  std::ofstream stream(file);
  if (!(stream << text).flush()) throw std::runtime_error("cannot write " + file.string());
  std::printf("%s\n", file.c_str());
}

std::vector<Picture> draw(const std::vector<Figures>& figures, const fs::path& page) {
  const fs::path folder = page.parent_path() / "pictures";
  fs::create_directories(folder);
  std::vector<Picture> pictures;
  for (const NamedChart& each : charts_of(figures)) {
    write(folder / (each.name + ".svg"), svg(each.chart));
    pictures.push_back({each.group, "pictures/" + each.name + ".svg", each.chart.title});
  }
  return pictures;
}

void report(const fs::path& page, const std::vector<std::string>& files) {
  const std::string text = content_of(page);
  std::vector<Figures> figures;
  for (const std::string& file : files)
    figures.push_back(value_of(figures_from(file, content_of(file))));
  figures = merged(std::move(figures));
  value_of(with_section(text, ""));  // before anything is written
  write(page, value_of(with_section(text, figures_section(figures, draw(figures, page)))));
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 3) {
    std::fprintf(
        stderr,
        "usage: ddprun_bench_report PAGE FILE.json…\n"
        "FILE.json is what ./dev bench --json FILE.json has written; of a group that is in "
        "several, the last counts\n");
    return 2;
  }
  report(argv[1], {argv + 2, argv + argc});
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "ddprun_bench_report: %s\n", error.what());
  return 1;
}
