#include "rendezvous/server/tls_door.h"

#include <utility>

namespace ddprun::server {

Result<guard::PumpedSocket> TlsDoor::open(UniqueFd socket, std::shared_ptr<guard::TlsFacts> facts,
                                          std::function<void(const std::string&)> on_failed) {
  const std::uint64_t id = ++last_;
  auto opened = guard::pump_over(
      io_, std::move(socket), guard::TlsStream(tls_),
      {.on_open = [facts](const guard::TlsFacts& known) { *facts = known; },
       .on_leaving = [this, id] { leaving_.insert(id); },
       .on_end =
           [this, id, facts, on_failed = std::move(on_failed)](const guard::TlsEnd& end) {
             pumps_.erase(id);
             leaving_.erase(id);
             if (facts->open || end.why.empty()) return;
             ++failed_;
             on_failed(end.why);
           }});
  if (opened) pumps_.emplace(id, opened->pump);
  return opened;
}

bool TlsDoor::end_oldest_leaving() {
  if (leaving_.empty()) return false;
  const auto pump = pumps_.extract(leaving_.extract(leaving_.begin()).value());
  pump.mapped()->close();
  return true;
}

void TlsDoor::close() {
  leaving_.clear();
  for (auto& [id, pump] : std::exchange(pumps_, {})) pump->close();
}

}  // namespace ddprun::server
