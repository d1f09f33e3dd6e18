#include <cstddef>
#include <string>
#include <utility>

#include "tests/bench/announcer.h"
#include "tests/bench/groups.h"
#include "tests/bench/store_rates.h"
#include "tests/bench/store_servers.h"

namespace ddprun::bench {
namespace {

constexpr int kRounds = 9;
constexpr int kFewRounds = 3;

struct Storm {
  double milliseconds;
  double kilobytes;     // of a connection
  double microseconds;  // of the server's CPU for a client
};

Storm join(const Setup& setup, const StoreServer& kind, int clients, const std::string& source) {
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
  const auto rows = [&](const StoreServer& kind, Goal time, Goal memory, const std::string& peer) {
    const auto of = [&](const std::string& name, const std::string& what) {
      return name.empty() ? "" : n + what + ": " + name;
    };
    const std::string memory_text = ", memory of a connection", cpu_text = ", server CPU of one";
    return std::vector<Row>{{of(kind.name, ""), "ms", time, of(peer, "")},
                            {of(kind.name, memory_text), "KB", memory, of(peer, memory_text)},
                            {of(kind.name, cpu_text), "us", {}, of(peer, cpu_text)}};
  };
  const auto probe = [&](const StoreServer& kind, std::vector<Row> shown) {
    const std::size_t figures = shown.size();
    return Probe{std::move(shown),
                 [setup, kind, clients, figures] {
                   const Storm storm = join(setup, kind, clients, "127.0.0.1");
                   std::vector<double> values{storm.milliseconds, storm.kilobytes,
                                              storm.microseconds, storm.milliseconds};
                   values.resize(figures);
                   return values;
                 },
                 kRounds, kind.missing};
  };
  // PyTorch's server looks each client up; it gets the fastest answer there is.
  const StoreServer own = with_names(setup, rdzvd_store(setup), "none"),
                    peer = with_names(setup, libuv_store(setup), "none"),
                    floor = raw_epoll_store(setup);
  std::vector<Row> own_rows = rows(own, ratio_at_most(0.9), median_at_most(2), peer.name);
  own_rows.push_back({n + ": " + own.name + ", against " + floor.name, "ms", ratio_at_most(1.15),
                      n + ": " + floor.name});
  return {"store",
          {probe(peer, rows(peer, {}, {}, "")), probe(floor, rows(floor, {}, {}, "")),
           probe(own, std::move(own_rows))}};
}

Probe with_name_server(const Setup& setup, Row row, const StoreServer& kind, const std::string& how,
                       int clients) {
  const StoreServer there = with_names(setup, kind, how);
  return {{std::move(row)},
          [setup, there, clients] {
            return std::vector{join(setup, there, clients, "127.0.0.2").milliseconds};
          },
          kFewRounds,
          there.missing};
}

// A name server that answers late or never.
std::vector<Block> name_servers(const Setup& setup, int clients) {
  const StoreServer own = rdzvd_store(setup), peer = libuv_store(setup);
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
  for (const int clients : {setup.most_clients / 5, setup.most_clients})
    if (clients > 0) blocks.push_back(storm(setup, clients));
  for (Block& block : name_servers(setup, setup.most_clients)) blocks.push_back(std::move(block));
  for (Block& block : store_rates(setup)) blocks.push_back(std::move(block));
  return blocks;
}

}  // namespace ddprun::bench
