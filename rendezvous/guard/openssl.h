// OpenSSL, as far as this process has asked for it.
#pragma once

#include <memory>

#include "rendezvous/base/module.h"
#include "rendezvous/base/result.h"
#include "rendezvous/guard/openssl_module.h"

namespace ddprun::guard {

class Openssl {
 public:
  // Opens the module; takes some milliseconds. Error: goes behind "a token needs OpenSSL: ".
  static Result<std::shared_ptr<const Openssl>> open();

  const OpensslFunctions& functions() const { return *functions_; }

 private:
  Openssl(Module module, const OpensslFunctions& functions)
      : module_(std::move(module)), functions_(&functions) {}

  Module module_;
  const OpensslFunctions* functions_;
};

}  // namespace ddprun::guard
