// A resolver for a program that is started with LD_PRELOAD: it has no name that begins with "only",
// and never an answer for one that begins with "slow".
#include <dlfcn.h>
#include <netdb.h>
#include <unistd.h>

#include <string_view>

extern "C" __attribute__((visibility("default"))) int getaddrinfo(const char* name,
                                                                  const char* service,
                                                                  const addrinfo* hints,
                                                                  addrinfo** found) {
  const std::string_view text = name == nullptr ? "" : name;
  if (text.starts_with("only")) return EAI_NONAME;
  while (text.starts_with("slow")) ::pause();
  const auto real = reinterpret_cast<decltype(&getaddrinfo)>(::dlsym(RTLD_NEXT, "getaddrinfo"));
  return real(name, service, hints, found);
}
