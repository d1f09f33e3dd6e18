// A name server that never answers, for a program that is started with LD_PRELOAD.
#include <netdb.h>
#include <unistd.h>

#include <cstdio>

extern "C" __attribute__((visibility("default"))) int getaddrinfo(const char* name, const char*,
                                                                  const addrinfo*, addrinfo**) {
  std::fprintf(stderr, "looking up %s\n", name);
  while (true) ::pause();
}
