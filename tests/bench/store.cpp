#include <unistd.h>

#include <cstdint>
#include <string>
#include <utility>

#include "tests/bench/announcer.h"
#include "tests/bench/groups.h"

namespace ddprun::bench {
namespace {

constexpr int kRounds = 7;
constexpr int kFewRounds = 5;

// A store server that runs for one measurement.
struct Kind {
  std::string name;
  Words command;
  std::string missing;
};

Kind rdzvd(const Setup& setup) {
  return {"rdzvd", {setup.rdzvd, "--listen", "127.0.0.1:0"}, no_rdzvd(setup)};
}

Kind libuv(const Setup& setup) {
  return {"PyTorch (libuv)", {setup.python, setup.libuv_store}, no_torch(setup)};
}

Kind raw_epoll(const Setup& setup) {
  return {"raw epoll", {setup.epoll_store}, ""};
}

// The same with another name service; see names.cpp.
Kind with_names(const Setup& setup, Kind kind, const std::string& how) {
  kind.command = Words{setup.names, how} + kind.command;
  if (kind.missing.empty()) kind.missing = no_names(setup, how);
  return kind;
}

struct Storm {
  double milliseconds;
  double kilobytes;     // of a connection
  double microseconds;  // of the server's CPU for a client
};

Storm join(const Setup& setup, const Kind& kind, int clients, const std::string& source) {
  const Announcer server(kind.command);
  const int port = static_cast<int>(server.number());
  const double memory = pss_megabytes(server.pid());
  const double cpu = cpu_milliseconds(server.pid());
  const Announcer ranks(
      {setup.store_clients, std::to_string(port), std::to_string(clients), source});
  const double took = ranks.number();
  return {took, (pss_megabytes(server.pid()) - memory) * 1024 / clients,
          (cpu_milliseconds(server.pid()) - cpu) * 1000 / clients};
}

Block storm(const Setup& setup, int clients) {
  const std::string n = std::to_string(clients) + " clients join";
  const auto rows = [&](const Kind& kind, Goal time, Goal memory, const std::string& peer) {
    const auto of = [&](const std::string& name, const std::string& what) {
      return name.empty() ? "" : n + what + ": " + name;
    };
    const std::string memory_text = ", memory of a connection", cpu_text = ", server CPU of one";
    return std::vector<Row>{{of(kind.name, ""), "ms", time, of(peer, "")},
                            {of(kind.name, memory_text), "KB", memory, of(peer, memory_text)},
                            {of(kind.name, cpu_text), "us", {}, of(peer, cpu_text)}};
  };
  const auto probe = [&](const Kind& kind, std::vector<Row> shown) {
    return Probe{std::move(shown),
                 [setup, kind, clients] {
                   const Storm storm = join(setup, kind, clients, "127.0.0.1");
                   return std::vector{storm.milliseconds, storm.kilobytes, storm.microseconds};
                 },
                 kRounds, kind.missing};
  };
  // PyTorch's server looks each client up; it gets the fastest answer there is.
  const Kind own = with_names(setup, rdzvd(setup), "none"),
             peer = with_names(setup, libuv(setup), "none"), floor = raw_epoll(setup);
  return {"store",
          {probe(peer, rows(peer, {}, {}, "")), probe(floor, rows(floor, {}, {}, "")),
           probe(own, rows(own, ratio_at_most(0.9), median_at_most(2), peer.name))}};
}

Probe with_name_server(const Setup& setup, Row row, const Kind& kind, const std::string& how,
                       int clients) {
  const Kind there = with_names(setup, kind, how);
  return {{std::move(row)},
          [setup, there, clients] {
            return std::vector{join(setup, there, clients, "127.0.0.2").milliseconds};
          },
          kFewRounds,
          there.missing};
}

// A name server that answers late or never.
std::vector<Block> name_servers(const Setup& setup, int clients) {
  const Kind own = rdzvd(setup), peer = libuv(setup);
  const std::string n = std::to_string(clients) + " clients join: ",
                    slow = "100 clients join, the name server takes 20 ms: ",
                    none = n + own.name + ", no name server";
  Block silent{
      "store",
      {with_name_server(setup, {none, "ms"}, own, "none", clients),
       with_name_server(setup,
                        {n + own.name + ", a silent name server", "ms", ratio_at_most(1.1), none},
                        own, "silent", clients)}};
  Block late{
      "store",
      {with_name_server(setup, {slow + peer.name, "ms"}, peer, "20", 100),
       with_name_server(setup, {slow + own.name, "ms", {}, slow + peer.name}, own, "20", 100)}};
  return {std::move(silent), std::move(late)};
}

}  // namespace

std::vector<Block> store_group(const Setup& setup) {
  std::vector<Block> blocks;
  for (const int clients : {1'000, 10'000})
    if (clients <= setup.most_clients) blocks.push_back(storm(setup, clients));
  for (Block& block : name_servers(setup, setup.most_clients)) blocks.push_back(std::move(block));
  return blocks;
}

}  // namespace ddprun::bench
