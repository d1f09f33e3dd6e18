// The options that are about nodes: each is read here, and settle_rendezvous puts them together.
#include <utility>

#include "launcher/cli/apply.h"
#include "launcher/cli/values.h"
#include "rendezvous/base/endpoint.h"
#include "rendezvous/guard/token.h"

namespace ddprun::cli::apply {
namespace {

template <class T>
Said<T> said(T value, const Settings& settings) {
  return {std::move(value), settings.label, settings.written};
}

template <class T>
Reading keep(const Result<T>& value, const Settings& settings, std::optional<Said<T>>& target) {
  if (!value) return wrong(value.error().text);
  target = said(*value, settings);
  return taken();
}

}  // namespace

Reading nnodes(const std::string& value, Settings& settings) {
  return keep(read_nodes(value), settings, settings.rendezvous.nodes);
}

Reading node_rank(const std::string& value, Settings& settings) {
  return keep(read_integer(value, 0, 1'000'000), settings, settings.rendezvous.node_rank);
}

Reading rdzv_id(const std::string& value, Settings& settings) {
  settings.rendezvous.run_id = said(value, settings);
  return taken();
}

Reading rdzv_backend(const std::string& value, Settings& settings) {
  if (value == "etcd")
    return wrong(
        "'etcd': ddprun itself does not speak to etcd; start rdzvd --state etcd://HOST:PORT, two "
        "or three of them, and write --rdzv-backend c10d --rdzv-endpoint HOST:PORT,HOST:PORT with "
        "where they listen");
  if (value == "etcd-v2")
    return wrong("'etcd-v2' speaks a protocol that etcd has given up; write static or c10d");
  static constexpr Choice<bool> kBackends[] = {{"static", false}, {"c10d", true}};
  return keep(read_choice<bool>(value, kBackends), settings, settings.rendezvous.by_arrival);
}

Reading rdzv_endpoint(const std::string& value, Settings& settings) {
  auto endpoints = read_endpoints(value);
  if (!endpoints) return wrong(endpoints.error().text);
  Endpoint first = endpoints->front();
  endpoints->erase(endpoints->begin());
  if (!first.port && value.find_first_not_of("0123456789") == std::string::npos)
    return wrong("'" + value + "' has no host; write localhost:" + value);
  settings.rendezvous.endpoint = said(std::move(first), settings);
  settings.rendezvous.more_endpoints = std::move(*endpoints);
  return taken();
}

Reading rdzv_conf(const std::string& value, Settings& settings) {
  ReadConf before = settings.rendezvous.conf ? settings.rendezvous.conf->value : ReadConf();
  before.unknown.clear();
  const Result<ReadConf> read = read_conf(value, std::move(before));
  if (!read) return wrong(read.error().text);
  for (const std::string& key : read->unknown)
    settings.job.notices.push_back(settings.label + ": no rendezvous has the key '" + key +
                                   "', ignored" + did_you_mean_conf_key(key));
  return keep(read, settings, settings.rendezvous.conf);
}

Reading master_addr(const std::string& value, Settings& settings) {
  if (const std::string_view authority = authority_of_url(value); !authority.empty()) {
    const Result<Endpoint> meant = read_endpoint(authority);
    const std::string port =
        meant && meant->port ? " --master-port " + std::to_string(*meant->port) : "";
    return wrong("'" + value + "' is a URL; write --master-addr " +
                 (meant ? meant->host : std::string(authority)) + port);
  }
  const auto colon = value.find(':');
  if (colon != std::string::npos && read_port(value.substr(colon + 1))) {
    return wrong("'" + value + "' has a port in it; write --master-addr " + value.substr(0, colon) +
                 " --master-port " + value.substr(colon + 1));
  }
  return keep(read_host(value), settings, settings.rendezvous.master_addr);
}

Reading master_port(const std::string& value, Settings& settings) {
  return keep(read_port(value), settings, settings.rendezvous.master_port);
}

Reading local_addr(const std::string& value, Settings& settings) {
  return keep(read_host(value), settings, settings.rendezvous.local_addr);
}

Reading cluster(const std::string& value, Settings& settings) {
  using cluster::Engine;
  static constexpr Choice<Engine> kEngines[] = {{"none", Engine::none},
                                                {"slurm", Engine::slurm},
                                                {"kubernetes", Engine::kubernetes},
                                                {"mpi", Engine::mpi}};
  return keep(read_choice<Engine>(value, kEngines), settings, settings.rendezvous.engine);
}

Reading token_file(const std::string& value, Settings& settings) {
  settings.rendezvous.token_file = said(value, settings);
  return taken();
}

Reading tls_ca(const std::string& value, Settings& settings) {
  settings.rendezvous.tls_ca = said(value, settings);
  return taken();
}

Reading tls_cert(const std::string& value, Settings& settings) {
  settings.rendezvous.tls_cert = said(value, settings);
  return taken();
}

Reading tls_key(const std::string& value, Settings& settings) {
  settings.rendezvous.tls_key = said(value, settings);
  return taken();
}

Reading token(const std::string&, Settings&) {
  return wrong(guard::kTokenOnCommandLine);
}

}  // namespace ddprun::cli::apply
