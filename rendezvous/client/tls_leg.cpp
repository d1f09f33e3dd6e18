#include "rendezvous/client/tls_leg.h"

#include <utility>

namespace ddprun::client {

Result<UniqueFd> TlsLeg::open(boost::asio::io_context& io, UniqueFd secure,
                              const std::shared_ptr<const guard::Tls>& tls, Hooks hooks) {
  end_ = {};
  auto pumped =
      guard::pump_over(io, std::move(secure), guard::TlsStream(tls),
                       {.on_open = [on_open = std::move(hooks.on_open)](
                                       const guard::TlsFacts& facts) { on_open(facts.binding); },
                        .on_end =
                            [this, on_end = std::move(hooks.on_end)](const guard::TlsEnd& end) {
                              end_ = end;
                              on_end();
                            }});
  if (!pumped) return pumped.error();
  pump_ = std::move(pumped->pump);
  pump_->start();
  return std::move(pumped->plain);
}

void TlsLeg::close() {
  if (pump_) pump_->close();
}

}  // namespace ddprun::client
