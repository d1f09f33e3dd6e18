#include "rendezvous/etcd/client.h"

#include <boost/asio/connect.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <optional>
#include <utility>

#include "rendezvous/client/look_up.h"

namespace ddprun::etcd {
namespace {

namespace http = boost::beast::http;
using boost::asio::ip::tcp;
using boost::system::error_code;

}  // namespace

struct Client::Shared {
  ClientOptions options;
  std::size_t present = 0;  // the member that has answered last
  // Where each member was found. Its name is looked up again when it has not answered; while that
  // fails, what was found before has to do.
  struct Found {
    client::Addresses addresses = {};
    bool is_good = false;
  };
  std::vector<Found> found = {};
  bool closed = false;
};

// One question, to one member after the other. Callbacks hold it.
class Client::Question : public std::enable_shared_from_this<Question> {
 public:
  Question(boost::asio::io_context& io, std::shared_ptr<Shared> shared, Request request,
           OnAnswer on_answer)
      : io_(io),
        shared_(std::move(shared)),
        request_(std::move(request)),
        on_answer_(std::move(on_answer)),
        member_(shared_->present),
        socket_(io),
        limit_(io) {}

  void begin() {
    ++generation_;
    error_code ignored;
    socket_.close(ignored);
    buffer_.clear();
    limit_.expires_after(shared_->options.limit);
    limit_.async_wait([self = shared_from_this(), from = generation_](error_code canceled) {
      if (!canceled && self->is_current(from)) self->fail("no answer in time");
    });
    looks_up_ = !known().is_good;
    if (!looks_up_) return connect();
    look_up_.emplace(
        io_, endpoint().host,
        [self = weak_from_this(), from = generation_](Result<client::Addresses> found) {
          const auto alive = self.lock();
          if (alive && alive->is_current(from)) alive->on_found(std::move(found));
        });
  }

 private:
  const Endpoint& endpoint() const { return shared_->options.members[member_]; }
  Shared::Found& known() const { return shared_->found[member_]; }
  bool is_current(int generation) const {
    return !shared_->closed && !done_ && generation == generation_;
  }

  void on_found(Result<client::Addresses> found) {
    if (!found && known().addresses.empty())
      return fail("it cannot be looked up: " + found.error().text);
    looks_up_ = false;
    if (found) known() = {.addresses = std::move(*found), .is_good = true};
    connect();
  }

  void connect() {
    std::vector<tcp::endpoint> all;
    for (const auto& address : known().addresses) all.emplace_back(address, endpoint().port);
    boost::asio::async_connect(
        socket_, all,
        [self = shared_from_this(), from = generation_](error_code error, const tcp::endpoint&) {
          if (self->is_current(from)) self->on_connected(error);
        });
  }

  void on_connected(error_code error) {
    if (error) return fail(error.message());
    error_code ignored;
    socket_.set_option(tcp::no_delay(true), ignored);
    message_ = {http::verb::post, request_.path, 11};
    message_.set(http::field::host, to_text(endpoint()));
    message_.set(http::field::content_type, "application/json");
    message_.set(http::field::connection, "close");
    message_.body() = request_.body;
    message_.prepare_payload();
    http::async_write(
        socket_, message_,
        [self = shared_from_this(), from = generation_](error_code failed, std::size_t) {
          if (self->is_current(from)) self->on_sent(failed);
        });
  }

  void on_sent(error_code error) {
    if (error) return fail(error.message());
    parser_.emplace();
    parser_->body_limit(shared_->options.max_answer_bytes);
    http::async_read(
        socket_, buffer_, *parser_,
        [self = shared_from_this(), from = generation_](error_code failed, std::size_t) {
          if (self->is_current(from)) self->on_answered(failed);
        });
  }

  void on_answered(error_code error) {
    // What a port of TLS does.
    if (error == http::error::end_of_stream)
      return fail(
          "it closed the connection without an answer, as a port of TLS does, which rdzvd does not "
          "speak with etcd yet");
    if (error) return fail(error.message());
    const auto& answer = parser_->get();
    if (answer.result() != http::status::ok)
      return fail(explain_problem(answer.body(), static_cast<int>(answer.result_int())));
    shared_->present = member_;
    finish(Result<std::string>(boost::system::in_place_value, parser_->release().body()));
  }

  void fail(const std::string& why) {
    problems_ += (problems_.empty() ? "" : "; ") + to_text(endpoint()) + ": " + why;
    const std::size_t count = shared_->options.members.size();
    known().is_good = looks_up_ && !known().addresses.empty();
    member_ = (member_ + 1) % count;
    if (++tried_ < count) return begin();
    shared_->present = member_;
    finish(Error{problems_});
  }

  void finish(Result<std::string> answer) {
    done_ = true;
    error_code ignored;
    socket_.close(ignored);
    limit_.cancel();
    std::exchange(on_answer_, nullptr)(std::move(answer));
  }

  boost::asio::io_context& io_;
  std::shared_ptr<Shared> shared_;
  Request request_;
  OnAnswer on_answer_;
  std::size_t member_;
  std::size_t tried_ = 0;
  std::string problems_;
  int generation_ = 0;
  bool done_ = false;
  bool looks_up_ = false;
  std::optional<client::LookUp> look_up_;
  tcp::socket socket_;
  boost::asio::steady_timer limit_;
  http::request<http::string_body> message_;
  std::optional<http::response_parser<http::string_body>> parser_;
  boost::beast::flat_buffer buffer_;
};

Client::Client(boost::asio::io_context& io, ClientOptions options)
    : io_(io), shared_(std::make_shared<Shared>(Shared{.options = std::move(options)})) {
  shared_->found.resize(shared_->options.members.size());
}

Client::~Client() {
  close();
}

void Client::ask(Request request, OnAnswer on_answer) {
  if (shared_->closed) return;
  std::make_shared<Question>(io_, shared_, std::move(request), std::move(on_answer))->begin();
}

void Client::pass_over() {
  shared_->present = (shared_->present + 1) % shared_->options.members.size();
}

void Client::close() {
  shared_->closed = true;
}

}  // namespace ddprun::etcd
