#include "rendezvous/guard/openssl.h"

#include <utility>

namespace ddprun::guard {

Result<std::shared_ptr<const Openssl>> Openssl::open() {
  auto module = Module::open(kModuleFile);
  if (!module) return module.error();
  const auto function = module->find(kModuleFunction);
  if (!function) return function.error();
  const auto* functions = reinterpret_cast<GetOpensslFunctions*>(*function)();
  return std::shared_ptr<const Openssl>(new Openssl(std::move(*module), *functions));
}

}  // namespace ddprun::guard
