// A worker that meets the others in the store: store_meeting HOST PORT RANK SIZE.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "rendezvous/client/store_client.h"

int main(int argc, char** argv) {
  using namespace ddprun;
  if (argc != 5) return 2;
  const int size = std::atoi(argv[4]);
  auto store = client::StoreClient::connect({.host = argv[1],
                                             .port = static_cast<std::uint16_t>(std::atoi(argv[2])),
                                             .connect_timeout = std::chrono::seconds(10)});
  if (!store) return std::fprintf(stderr, "%s\n", store.error().text.c_str()), 1;
  // Larger than a record of TLS and than a socket's buffer.
  const std::string large(1 << 20, 'x');
  if (!store->set("rank" + std::string(argv[3]), large)) return 1;
  for (int rank = 0; rank < size; ++rank) {
    const auto value = store->get("rank" + std::to_string(rank), std::chrono::seconds(10));
    if (!value || !*value || **value != large) return 1;
  }
  std::printf("met %d\n", size);
  return 0;
}
