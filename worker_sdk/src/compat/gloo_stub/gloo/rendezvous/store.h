// Declarations that let c10d/ProcessGroupGloo.hpp compile: LibTorch ships neither Gloo nor its
// headers.
//
// Gloo's objects are made and used inside libtorch_cpu only; here they are seen through smart
// pointers, so names and virtual functions suffice. Never mix these with real Gloo headers in one
// source file.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace gloo {

class Context {
 public:
  virtual ~Context();
  void setTimeout(std::chrono::milliseconds);
};

namespace rendezvous {

class Store {
 public:
  static constexpr std::chrono::milliseconds kDefaultTimeout = std::chrono::seconds(30);
  virtual ~Store();
  virtual void set(const std::string& key, const std::vector<char>& value) = 0;
  virtual std::vector<char> get(const std::string& key) = 0;
  virtual void wait(const std::vector<std::string>& keys) = 0;
  virtual void wait(const std::vector<std::string>& keys, const std::chrono::milliseconds&) = 0;
};

}  // namespace rendezvous

namespace transport {

class Device {
 public:
  virtual ~Device() = 0;
};

class UnboundBuffer {
 public:
  virtual ~UnboundBuffer() = 0;
};

}  // namespace transport
}  // namespace gloo
