#include "launcher/relay/local_node.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <boost/asio/post.hpp>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "launcher/cluster/allocation.h"
#include "launcher/hosts/passed.h"
#include "rendezvous/base/printable.h"

namespace ddprun::relay {
namespace {

constexpr std::chrono::milliseconds kDrain{
    200};  // others may hold the pipes of a ddprun that ended
constexpr const char* kThisProgram = "/proc/self/exe";

std::string own_path() {
  std::error_code ignored;
  return std::filesystem::read_symlink(kThisProgram, ignored).string();
}

UniqueFd open_directory(const std::string& path) {
  return UniqueFd(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
}

void set(std::string_view name, const std::string& value, std::vector<std::string>& entries) {
  std::erase_if(entries,
                [&](const std::string& entry) { return cli::variable_name(entry) == name; });
  entries.push_back(std::string(name) + "=" + value);
}

}  // namespace

LocalNodeOptions local_node_options(const hosts::Start& order, const hosts::Node& node,
                                    const cli::Environment& here, std::string address) {
  return {.node = node,
          .nodes = order.nodes,
          .directory = order.directory,
          .words = hosts::words_of_node(order.options, order.files, order.command, node.index,
                                        node.host),
          .environment = hosts::merged_environment(here.entries(), order.environment),
          .address = std::move(address),
          .credit = order.credit};
}

LocalNode::LocalNode(boost::asio::io_context& io, LocalNodeOptions options, LocalNodeHooks hooks)
    : io_(io),
      options_(std::move(options)),
      hooks_(std::move(hooks)),
      child_(io),
      out_(io, STDOUT_FILENO, options_.credit),
      err_(io, STDERR_FILENO, options_.credit),
      channel_(io),
      timer_(io) {}

Result<void> LocalNode::check() const {
  if (open_directory(options_.directory)) return {};
  return Error{"the job runs in '" + printable(options_.directory) +
               "', which cannot be entered there: " + std::strerror(errno) +
               "; make it there, or start from a folder that all hosts have"};
}

std::vector<std::string> LocalNode::own_environment(const hosts::Begin& order) const {
  std::vector<std::string> entries = options_.environment;
  set("PWD", options_.directory, entries);
  set(cluster::kHostsRank, std::to_string(options_.node.index), entries);
  set(cluster::kHostsSize, std::to_string(options_.nodes), entries);
  set(cluster::kHostsName, options_.node.host.name, entries);
  // Else the options say where.
  if (!order.host.empty() || !order.for_others) {
    set(cluster::kHostsAddress, order.host.empty() ? options_.address : order.host, entries);
    set(cluster::kHostsPort, std::to_string(order.port), entries);
  }
  set(cluster::kHostsChannel, std::to_string(process::kExtraDescriptor), entries);
  return entries;
}

void LocalNode::begin(const hosts::Begin& order) {
  const bool meant = options_.node.index == 0 ? order.for_first : order.for_others;
  if (!meant || begun_ || over_) return;
  begun_ = true;
  auto out = make_pipe();
  auto err = make_pipe();
  auto channel = make_pipe();
  const UniqueFd nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const UniqueFd directory = open_directory(options_.directory);
  if (!out || !err || !channel || !nothing || !directory)
    return be_out(std::string("ddprun cannot be started: ") + std::strerror(errno));
  process::SpawnRequest request{
      .path = own_path(), .argv = {"ddprun"}, .env = own_environment(order)};
  request.argv.insert(request.argv.end(), options_.words.begin(), options_.words.end());
  request.in = nothing.get();
  request.out = out->write.get();
  request.err = err->write.get();
  request.extra = channel->write.get();
  request.directory = directory.get();
  const auto started = child_.start(request, [this](process::WaitStatus status) {
    status_ = status;
    timer_.expires_after(kDrain);
    timer_.async_wait([this](boost::system::error_code canceled) {
      if (!canceled) finish();
    });
    on_end();
  });
  if (!started) return be_out(started.error().text);
  open(out_, std::move(out->read));
  open(err_, std::move(err->read));
  channel_.open(std::move(channel->read),
                {.bytes = [this](std::string_view bytes) { on_told(bytes); },
                 .end = [this] { on_end(); },
                 .full = {}});
}

void LocalNode::open(Stream& stream, UniqueFd fd) {
  const auto show = [this, &stream](std::string_view text) {
    stream.allowance.spend(text.size());
    hooks_.message(hosts::Lines{options_.node.index, stream.number, std::string(text)});
  };
  stream.inlet.open(
      std::move(fd),
      {.bytes = [show, &stream](std::string_view bytes) { stream.lines.feed(bytes, show); },
       .end =
           [this, show, &stream] {
             stream.lines.finish(show);
             on_end();
           },
       .full =
           [&stream](std::function<void()> resume) {
             if (!stream.allowance.spent()) return false;
             stream.go_on = std::move(resume);
             return true;
           }});
}

void LocalNode::add(const hosts::Credit& credit) {
  Stream& stream = credit.stream == out_.number ? out_ : err_;
  stream.allowance.add(credit.bytes);
  if (stream.allowance.spent() || !stream.go_on) return;
  std::exchange(stream.go_on, nullptr)();
}

void LocalNode::on_told(std::string_view bytes) {
  decoder_.feed(bytes);
  for (;;) {
    auto message = decoder_.next();
    if (!message || !*message) return;
    if (auto* listening = std::get_if<hosts::Listening>(&**message))
      listening->host = options_.address;
    hooks_.message(std::move(**message));
  }
}

void LocalNode::on_end() {
  if (status_ && !out_.inlet.is_open() && !err_.inlet.is_open() && !channel_.is_open()) finish();
}

void LocalNode::finish() {
  if (std::exchange(over_, true)) return;
  timer_.cancel();
  out_.inlet.drain_now();
  err_.inlet.drain_now();
  channel_.drain_now();
  const bool exited = status_->kind == process::WaitStatus::Kind::exited;
  hooks_.message(hosts::Ended{.index = options_.node.index,
                              .code = status_->shell_code(),
                              .by_signal = exited ? 0 : status_->value});
}

void LocalNode::signal(int signo) {
  if (begun_) return child_.signal(signo);
  if (!asks_to_end(signo) || std::exchange(over_, true)) return;
  hooks_.message(
      hosts::Ended{.index = options_.node.index, .code = 128 + signo, .by_signal = signo});
}

void LocalNode::be_out(const std::string& why) {
  over_ = true;
  hooks_.message(hosts::Out{.index = options_.node.index, .before_hello = true, .why = why});
}

bool asks_to_end(int signo) {
  return signo == SIGTERM || signo == SIGINT || signo == SIGHUP || signo == SIGQUIT;
}

}  // namespace ddprun::relay
