#include "rendezvous/server/http_session.h"

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/error.hpp>
#include <utility>

#include "rendezvous/guard/tls.h"
#include "rendezvous/server/peer.h"

namespace ddprun::server {
namespace {

namespace beast_http = boost::beast::http;

constexpr std::uint32_t kMaxHeadBytes = 16 << 10;

}  // namespace

HttpSession::HttpSession(HttpHost& host, std::uint64_t id, Visitor visitor)
    : host_(host),
      id_(id),
      channel_(std::make_shared<Channel>(host.io_, std::move(visitor.socket),
                                         static_cast<Channel::Owner&>(*this))),
      peer_(to_text(visitor.peer)),
      address_(network_text(visitor.peer)),
      tls_(std::move(visitor.tls)),
      place_(std::move(visitor.place)),
      unseen_(tls_ != nullptr || is_loopback(visitor.peer)),
      input_(std::move(visitor.first)) {
  parser_.header_limit(kMaxHeadBytes);
}

void HttpSession::start() {
  channel_->start();
  on_bytes({});
}

void HttpSession::on_bytes(std::string_view bytes) {
  if (answered_) return;
  input_.append(bytes);
  boost::system::error_code error;
  const std::size_t used = parser_.put(boost::asio::buffer(input_), error);
  input_.erase(0, used);
  if (error == beast_http::error::need_more) error = {};
  if (error == beast_http::error::header_limit || input_.size() > kMaxHeadBytes)
    return answer(http::refusal(431, "the head of the request is longer than 16 KiB"), false);
  if (error)
    return answer(http::refusal(400, "this is no HTTP request: " + error.message()), false);
  if (!parser_.is_header_done()) return;
  const auto& request = parser_.get();
  const http::Request plain{.method = std::string(request.method_string()),
                            .target = std::string(request.target()),
                            .authorization = std::string(request[beast_http::field::authorization]),
                            .unseen = unseen_};
  answer(host_.answer(*this, tls_.get(), plain), plain.method == "HEAD");
}

void HttpSession::on_gone(const std::string&) {
  host_.forget(id_);
}

void HttpSession::answer(const http::Response& response, bool head_only) {
  answered_ = true;
  input_ = {};
  channel_->queue(counted_bytes(http::to_bytes(response, head_only), host_.memory_));
  channel_->finish();
}

}  // namespace ddprun::server
