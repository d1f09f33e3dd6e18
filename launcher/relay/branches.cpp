#include "launcher/relay/branches.h"

#include <algorithm>
#include <utility>

#include "launcher/hosts/tree.h"

namespace ddprun::relay {

Branches::Branches(boost::asio::io_context& io, hosts::Start order,
                   std::vector<std::string> environment, BranchesHooks hooks)
    : io_(io),
      order_(std::move(order)),
      shell_{order_.shell_words, order_.remote_ddprun, order_.own_path},
      environment_(std::move(environment)),
      hooks_(std::move(hooks)) {}

void Branches::start(const std::vector<hosts::Node>& nodes) {
  for (const hosts::Branch& branch : hosts::branches(0, nodes.size()))
    open({nodes.begin() + static_cast<std::ptrdiff_t>(branch.begin),
          nodes.begin() + static_cast<std::ptrdiff_t>(branch.end)});
}

void Branches::open(std::vector<hosts::Node> nodes) {
  Branch& branch = *branches_.emplace_back(std::make_unique<Branch>());
  branch.nodes = std::move(nodes);
  branch.shell = std::make_unique<Shell>(
      io_, shell_, branch.nodes.front().host,
      ShellHooks{
          .message = [this,
                      &branch](hosts::Message message) { on_message(branch, std::move(message)); },
          .end = [this, &branch](bool answered,
                                 const std::string& why) { on_end(branch, answered, why); }});
  ++running_;
  hosts::Start order = order_;
  order.branch = branch.nodes;
  branch.shell->start(order, environment_, std::chrono::milliseconds(order_.patience_ms));
}

void Branches::on_message(Branch& branch, hosts::Message message) {
  if (const auto* ended = std::get_if<hosts::Ended>(&message)) branch.over.push_back(ended->index);
  if (const auto* out = std::get_if<hosts::Out>(&message)) branch.over.push_back(out->index);
  hooks_.message(std::move(message));
}

void Branches::be_out(Branch& branch, const hosts::Node& node, bool before_hello,
                      const std::string& why) {
  if (std::ranges::find(branch.over, node.index) != branch.over.end()) return;
  branch.over.push_back(node.index);
  hooks_.message(hosts::Out{.index = node.index, .before_hello = before_hello, .why = why});
}

void Branches::on_end(Branch& branch, bool answered, const std::string& why) {
  --running_;
  const hosts::Node& head = branch.nodes.front();
  std::vector<hosts::Node> rest(branch.nodes.begin() + 1, branch.nodes.end());
  if (!answered && !giving_up_ && !rest.empty()) {
    open(std::move(rest));
    rest.clear();
  }
  be_out(branch, head, !answered, why);
  for (const hosts::Node& node : rest)
    be_out(branch, node, !answered,
           answered ? "the way to it leads over " + head.host.name + ", which is lost"
                    : "nobody went there any more");
  hooks_.changed();
}

void Branches::send(const hosts::Message& message) {
  for (const auto& branch : branches_) branch->shell->send(message);
}

void Branches::send_to(int index, const hosts::Message& message) {
  for (const auto& branch : branches_)
    if (branch->shell->runs() && std::ranges::count(branch->nodes, index, &hosts::Node::index) > 0)
      branch->shell->send(message);
}

void Branches::give_up_silent() {
  giving_up_ = true;
  for (const auto& branch : branches_)
    if (!branch->shell->answered()) branch->shell->kill();
}

void Branches::hang_up() {
  for (const auto& branch : branches_) branch->shell->hang_up();
}

void Branches::kill() {
  giving_up_ = true;
  for (const auto& branch : branches_) branch->shell->kill();
}

}  // namespace ddprun::relay
