#include "rendezvous/client/look_up.h"

#include <fcntl.h>
#include <netdb.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <thread>
#include <utility>

#include "rendezvous/base/unique_fd.h"

namespace ddprun::client {
namespace {

Result<Addresses> ask_resolver(const std::string& host) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int failed = ::getaddrinfo(host.c_str(), nullptr, &hints, &found);
  if (failed == EAI_SYSTEM) return Error{std::strerror(errno)};
  if (failed != 0) return Error{::gai_strerror(failed)};
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> all(found, &::freeaddrinfo);
  Addresses addresses;
  for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
    boost::asio::ip::tcp::endpoint endpoint;
    if (each->ai_addrlen > endpoint.capacity()) continue;
    std::memcpy(endpoint.data(), each->ai_addr, each->ai_addrlen);
    if (std::ranges::find(addresses, endpoint.address()) == addresses.end())
      addresses.push_back(endpoint.address());
  }
  if (addresses.empty()) return Error{"it has no address"};
  return addresses;
}

}  // namespace

struct LookUp::Answer {
  Result<Addresses> addresses = Error{"it was not looked up"};
};

bool is_no_such_name(const Error& error) {
  return error.text == ::gai_strerror(EAI_NONAME) || error.text == ::gai_strerror(EAI_NODATA);
}

LookUp::LookUp(boost::asio::io_context& io, const std::string& host, Done done)
    : answered_(io),
      answer_(std::make_shared<Answer>()),
      done_(std::make_shared<Done>(std::move(done))) {
  boost::system::error_code not_literal;
  const auto literal = boost::asio::ip::make_address(host, not_literal);
  if (!not_literal)
    say(io, Addresses{literal});
  else if (const Result<void> asking = ask(host); !asking)
    say(io, asking.error());
  else
    wait_for_answer();
}

void LookUp::say(boost::asio::io_context& io, Result<Addresses> found) {
  boost::asio::post(io, [found = std::move(found), done = std::weak_ptr<Done>(done_)] {
    if (const auto alive = done.lock()) (*alive)(found);
  });
}

Result<void> LookUp::ask(const std::string& host) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return Error{std::string("pipe: ") + std::strerror(errno)};
  UniqueFd reading(ends[0]);
  UniqueFd writing(ends[1]);
  boost::system::error_code failed;
  answered_.assign(reading.get(), failed);
  if (failed) return Error{"pipe: " + failed.message()};
  reading.release();
  try {
    // The pipe closes behind the answer, which tells the loop that it is there.
    std::thread([host, answer = answer_, end = std::move(writing)] {
      answer->addresses = ask_resolver(host);
    }).detach();
  } catch (const std::system_error& none) {
    return Error{std::string("no thread can be started: ") + std::strerror(none.code().value())};
  }
  return {};
}

void LookUp::wait_for_answer() {
  answered_.async_wait(
      boost::asio::posix::stream_descriptor::wait_read,
      [answer = answer_, done = std::weak_ptr<Done>(done_)](boost::system::error_code canceled) {
        if (canceled) return;
        if (const auto alive = done.lock()) (*alive)(answer->addresses);
      });
}

}  // namespace ddprun::client
