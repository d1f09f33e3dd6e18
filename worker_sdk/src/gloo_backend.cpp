#include "worker_sdk/src/gloo_backend.h"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <sstream>
#include <thread>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

#include "worker_sdk/src/compat.h"
#include "worker_sdk/src/text.h"
#include "worker_sdk/src/translate.h"

namespace ddp::detail {
namespace {

using WorkPtr = c10::intrusive_ptr<c10d::Work>;
using FuturePtr = c10::intrusive_ptr<c10::ivalue::Future>;

// A rank's connections break before its process has ended. A launcher takes the rank that ends
// first for the cause, so this one waits until the launcher has heard of the other; then it is
// usually stopped here.
void let_the_launcher_hear() {
  static std::atomic<bool> waited = false;
  if (std::getenv("TORCHELASTIC_RUN_ID") == nullptr || waited.exchange(true)) return;
  std::this_thread::sleep_for(std::chrono::seconds(1));
}

template <class Action>
auto translated_gloo(int rank, const std::string& name, Action&& action) {
  return translated(rank, name, std::forward<Action>(action), explain_lost_or_late);
}

// An operation of Gloo whose failure comes out as ddp::Error, whichever way one asks for it.
class TranslatedWork : public c10d::Work {
 public:
  TranslatedWork(WorkPtr work, int global_rank, std::string name)
      : Work(global_rank, work->retrieveOpType()), work_(std::move(work)), name_(std::move(name)) {}

  bool isCompleted() override { return work_->isCompleted(); }
  bool isSuccess() const override { return work_->isSuccess(); }
  int sourceRank() const override { return work_->sourceRank(); }
  std::vector<at::Tensor> result() override { return work_->result(); }
  void synchronize() override { work_->synchronize(); }
  void abort() override { work_->abort(); }
  uint64_t getSequencenumber() const override { return work_->getSequencenumber(); }

  std::exception_ptr exception() const override {
    const std::exception_ptr failure = work_->exception();
    if (!failure) return nullptr;
    try {
      translated_gloo(rank_, name_, [&] { std::rethrow_exception(failure); });
    } catch (...) {
      return std::current_exception();
    }
    return nullptr;
  }

  bool wait(std::chrono::milliseconds timeout) override {
    return translated_gloo(rank_, name_, [&] { return work_->wait(timeout); });
  }

  FuturePtr getFuture() override {
    const FuturePtr future = work_->getFuture();
    // Copies, because the future may outlive this object.
    return future->then(
        [rank = rank_, name = name_](c10::ivalue::Future& done) {
          return translated_gloo(rank, name, [&] { return done.value(); });
        },
        future->elementType());
  }

 private:
  WorkPtr work_;
  std::string name_;
};

class GlooBackend : public c10d::ProcessGroupGloo {
  using Base = c10d::ProcessGroupGloo;

 public:
  GlooBackend(const c10::intrusive_ptr<c10d::Store>& store, int rank, int size, int global_rank,
              c10::intrusive_ptr<Options> options)
      : Base(store, rank, size, std::move(options)), global_rank_(global_rank) {}

  WorkPtr broadcast(std::vector<at::Tensor>& tensors,
                    const c10d::BroadcastOptions& options) override {
    return wrap("broadcast", [&] { return Base::broadcast(tensors, options); });
  }
  WorkPtr allreduce(std::vector<at::Tensor>& tensors,
                    const c10d::AllreduceOptions& options) override {
    return wrap("all_reduce", [&] { return Base::allreduce(tensors, options); });
  }
  WorkPtr allreduce_sparse(std::vector<at::Tensor>& tensors,
                           const c10d::AllreduceOptions& options) override {
    return wrap("all_reduce", [&] { return Base::allreduce_sparse(tensors, options); });
  }
  WorkPtr allgather(std::vector<std::vector<at::Tensor>>& outputs, std::vector<at::Tensor>& inputs,
                    const c10d::AllgatherOptions& options) override {
    return wrap("all_gather", [&] { return Base::allgather(outputs, inputs, options); });
  }
  WorkPtr barrier(const c10d::BarrierOptions& options) override {
    return wrap("barrier", [&] { return Base::barrier(options); });
  }

 private:
  template <class Start>
  WorkPtr wrap(const char* name, Start&& start) {
    return c10::make_intrusive<TranslatedWork>(translated_gloo(global_rank_, name, start),
                                               global_rank_, name);
  }

  int global_rank_;
};

std::vector<std::string> wanted_interfaces() {
  const char* list = std::getenv("GLOO_SOCKET_IFNAME");
  std::vector<std::string> names;
  std::istringstream stream(list ? list : "");
  for (std::string name; std::getline(stream, name, ',');) names.push_back(name);
  return names;
}

}  // namespace

std::string explain_lost_or_late(const std::string& reason) {
  if (is_lost_peer(reason)) let_the_launcher_hear();
  return explain_gloo(reason);
}

c10::intrusive_ptr<c10d::Backend> make_gloo_backend(const c10::intrusive_ptr<c10d::Store>& store,
                                                    int rank, int size, int global_rank,
                                                    std::chrono::milliseconds timeout) {
  auto options = compat::gloo_options<c10d::ProcessGroupGloo>(timeout, wanted_interfaces());
  return c10::make_intrusive<GlooBackend>(store, rank, size, global_rank, std::move(options));
}

}  // namespace ddp::detail
