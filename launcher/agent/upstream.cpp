#include "launcher/agent/upstream.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

#include "launcher/cli/values.h"
#include "launcher/cluster/allocation.h"
#include "launcher/hosts/messages.h"

namespace ddprun::agent {
namespace {

std::optional<int> number(const cli::Environment& environment, std::string_view name) {
  const auto text = environment.get(name);
  if (!text) return std::nullopt;
  const Result<int> value = cli::read_integer(*text, 0, cluster::kMostNodes);
  return value ? std::optional(*value) : std::nullopt;
}

}  // namespace

std::shared_ptr<Upstream> Upstream::of(const cli::Environment& environment) {
  const auto fd = number(environment, cluster::kHostsChannel);
  const auto index = number(environment, cluster::kHostsRank);
  if (!fd || !index || ::fcntl(*fd, F_SETFD, FD_CLOEXEC) != 0) return nullptr;
  return std::shared_ptr<Upstream>(new Upstream(UniqueFd(*fd), *index));
}

void Upstream::listening(std::uint16_t port) {
  write(hosts::encode(hosts::Listening{.index = index_, .host = {}, .port = port}));
}

void Upstream::report(bool happened_here, const std::string& text) {
  write(hosts::encode(hosts::Report{.index = index_, .first_hand = happened_here, .text = text}));
}

void Upstream::write(const std::string& bytes) {
  std::string_view rest = bytes;
  while (!rest.empty()) {
    const ssize_t written = ::write(fd_.get(), rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;  // whoever has started us is gone, and this node ends by its signal
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace ddprun::agent
