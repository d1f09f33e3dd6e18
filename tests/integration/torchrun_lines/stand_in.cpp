// Stands in for Python and for every program of the lines: writes its arguments and its environment
// to the file $STAND_IN_RECORDS/<RANK>, each text ended by a zero byte and the arguments by an
// empty line of their own, and ends with 0.
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>

int main(int argc, char** argv) {
  const char* folder = std::getenv("STAND_IN_RECORDS");
  const char* rank = std::getenv("RANK");
  if (folder == nullptr) return 3;
  std::ofstream file(std::string(folder) + "/" + (rank == nullptr ? "none" : rank));
  file << argc << '\0';
  for (int i = 0; i < argc; ++i) file << argv[i] << '\0';
  for (char** entry = environ; *entry != nullptr; ++entry) file << *entry << '\0';
  return file.flush() ? 0 : 4;
}
