// Runs a fuzz target over the files of a folder, and over many damaged copies of each (always the
// same ones); or over one file alone, as the fuzzer left it.
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

constexpr int kCopies = 300;

// What is being run, for whoever has to find the input again.
std::string current_name;
std::string current_bytes;

void save_input(int) {
  constexpr const char* kFile = "failing-input";
  if (std::FILE* file = std::fopen(kFile, "wb")) {
    std::fwrite(current_bytes.data(), 1, current_bytes.size(), file);
    std::fclose(file);
  }
  std::fprintf(stderr, "failed on %s, which is now in the file %s\n", current_name.c_str(), kFile);
  std::signal(SIGABRT, SIG_DFL);
  ::raise(SIGABRT);
}

void run(std::string name, std::string bytes) {
  current_name = std::move(name);
  current_bytes = std::move(bytes);
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(current_bytes.data()),
                         current_bytes.size());
}

std::string read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string damage(std::string bytes, std::mt19937& random) {
  for (auto left = 1 + random() % 4; left > 0 && !bytes.empty(); --left) {
    const std::size_t at = random() % bytes.size();
    switch (random() % 3) {
      case 0:
        bytes[at] = static_cast<char>(random());
        break;
      case 1:
        bytes.erase(at, 1 + random() % 8);
        break;
      default:
        bytes.insert(at, bytes.substr(random() % bytes.size(), random() % 32));
    }
  }
  return bytes;
}

int run_folder(const char* folder) {
  std::mt19937 random(1);
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename(), bytes = read(entry.path());
    run(name, bytes);
    for (int copy = 0; copy < kCopies; ++copy) run("a copy of " + name, damage(bytes, random));
    ++files;
  }
  std::printf("%d files and %d damaged copies of each\n", files, kCopies);
  return files > 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  std::signal(SIGABRT, save_input);
  if (std::filesystem::is_directory(argv[1])) return run_folder(argv[1]);
  run(argv[1], read(argv[1]));
  return 0;
}
