// A library of ours that is opened at run time, so that only those pay for what it needs who use
// it, and everything else works without it.
#pragma once

#include <memory>
#include <string>

#include "rendezvous/base/result.h"

namespace ddprun {

class Module {
 public:
  // Opens `path`, or, if that is empty, `file` where it lies beside this program: in the build
  // tree, or installed in lib/ddprun or lib/rdzvd. Error: goes behind "…: ", "its module x.so is
  // not installed (looked in …)".
  static Result<Module> open(const std::string& file, const std::string& path = {});

  // A function of C linkage. Error: the module is of another version. The result lives as long as
  // the module.
  Result<void*> find(const char* function) const;

 private:
  struct Close {
    void operator()(void* library) const;
  };
  explicit Module(void* library) : library_(library) {}

  std::unique_ptr<void, Close> library_;
};

}  // namespace ddprun
