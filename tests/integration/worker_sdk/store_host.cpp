// Hosts LibTorch's own store: prints its port, then answers "wait KEY" and "check KEY" until stdin
// ends.
#include <iostream>
#include <string>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

int main() {
  c10d::TCPStoreOptions options;
  options.port = 0;
  options.isServer = true;
  options.waitWorkers = false;
  options.timeout = std::chrono::seconds(30);
  const auto store = c10::make_intrusive<c10d::TCPStore>("127.0.0.1", options);
  std::cout << store->getPort() << std::endl;
  for (std::string command, key; std::cin >> command >> key;) {
    if (command == "wait") store->wait({key});
    std::cout << store->check({key}) << std::endl;
  }
}
