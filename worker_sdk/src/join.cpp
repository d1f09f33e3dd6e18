#include "ddp/join.h"

#include <exception>
#include <utility>

#include "ddp/distributed_data_parallel.h"

namespace ddp {

JoinGuard::JoinGuard(std::shared_ptr<detail::DataParallelCore> core, const JoinOptions& options)
    : core_(std::move(core)), exceptions_(std::uncaught_exceptions()) {
  core_->begin_join(options);
}

JoinGuard::~JoinGuard() noexcept(false) {
  if (!core_) return;
  if (std::uncaught_exceptions() == exceptions_) {
    finish();
  } else {
    core_->abandon_join();
  }
}

void JoinGuard::finish() {
  // Only once, also if it throws.
  if (const auto core = std::exchange(core_, nullptr)) core->finish_join();
}

}  // namespace ddp
