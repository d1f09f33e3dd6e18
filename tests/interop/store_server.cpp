// Serves a store on a port of 127.0.0.1, prints the port and ends when its input does.
#include <unistd.h>

#include <array>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/read.hpp>
#include <cstdio>

#include "rendezvous/server/server.h"

int main() {
  boost::asio::io_context io{1};
  ddprun::server::ServerOptions options;
  options.log = [](const std::string& line) { std::fprintf(stderr, "%s\n", line.c_str()); };
  auto server = ddprun::server::Server::listen(io, options);
  if (!server) {
    std::fprintf(stderr, "store_server: %s\n", server.error().text.c_str());
    return 1;
  }
  std::printf("%d\n", (*server)->port());
  std::fflush(stdout);
  boost::asio::posix::stream_descriptor input(io, ::dup(STDIN_FILENO));
  std::array<char, 64> ignored;
  boost::asio::async_read(
      input, boost::asio::buffer(ignored),
      [&](const boost::system::error_code&, std::size_t) { (*server)->close(); });
  io.run();
  return 0;
}
