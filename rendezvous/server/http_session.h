// One HTTP connection: reads the head of a request, sends the answer, ends. One thread.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "rendezvous/http/respond.h"
#include "rendezvous/server/channel.h"
#include "rendezvous/server/http_host.h"

namespace ddprun::server {

class HttpSession final : private Channel::Owner {
 public:
  HttpSession(HttpHost& host, std::uint64_t id, Visitor visitor);
  ~HttpSession() { channel_->close(); }
  HttpSession(const HttpSession&) = delete;
  HttpSession& operator=(const HttpSession&) = delete;

  void start();
  // As "10.0.0.2:4711".
  const std::string& peer() const { return peer_; }
  // What limits count by, see network_text().
  const std::string& address() const { return address_; }
  bool answered() const { return answered_; }
  // Of the answer.
  std::uint64_t unsent() const { return channel_->unsent(); }
  void close() { channel_->close(); }

 private:
  void on_bytes(std::string_view bytes) override;
  void on_gone(const std::string& how) override;
  void answer(const http::Response& response, bool head_only);

  HttpHost& host_;
  std::uint64_t id_;
  std::shared_ptr<Channel> channel_;
  std::string peer_;
  std::string address_;
  std::shared_ptr<const guard::TlsFacts> tls_;
  std::shared_ptr<void> place_;  // Visitor::place
  bool unseen_;                  // http::Request::unseen
  std::string input_;            // not parsed yet
  boost::beast::http::request_parser<boost::beast::http::empty_body> parser_;
  bool answered_ = false;
};

}  // namespace ddprun::server
