#include "worker_sdk/src/gloo_backend.h"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <sstream>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupWrapper.hpp>

#include "worker_sdk/src/compat.h"
#include "worker_sdk/src/forgotten_operations.h"
#include "worker_sdk/src/shared_memory/agreement.h"
#include "worker_sdk/src/shared_memory/all_reduce.h"
#include "worker_sdk/src/text.h"
#include "worker_sdk/src/translate.h"
#include "worker_sdk/src/work_state.h"

namespace ddp::detail {
namespace {

using WorkPtr = c10::intrusive_ptr<c10d::Work>;
using FuturePtr = c10::intrusive_ptr<c10::ivalue::Future>;

template <class Action>
auto translated_gloo(const Speaker& speaker, const std::string& name, Action&& action) {
  return translated(speaker.global_rank, name, std::forward<Action>(action),
                    explainer(speaker.peers, waits_in(name)));
}

std::exception_ptr failed(const Speaker& speaker, const std::string& name, const Reason& reason) {
  return std::make_exception_ptr(
      Error(speaker.global_rank, name + " failed: " + reason.text, reason.waited_for));
}

// An operation of Gloo whose failure comes out as ddp::Error, whichever way one asks for it, and
// that fails also where Gloo forgets it. `watch` may be null.
class TranslatedWork : public c10d::Work {
 public:
  TranslatedWork(WorkPtr work, Speaker speaker, std::string name,
                 std::shared_ptr<ForgottenOperations> watch)
      : Work(speaker.global_rank, work->retrieveOpType()),
        work_(std::move(work)),
        speaker_(std::move(speaker)),
        name_(std::move(name)),
        watch_(std::move(watch)) {}

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
      translated_gloo(speaker_, name_, [&] { std::rethrow_exception(failure); });
    } catch (...) {
      return std::current_exception();
    }
    return nullptr;
  }

  bool wait(std::chrono::milliseconds timeout) override {
    return translated_gloo(speaker_, name_, [&] {
      if (watch_ && timeout.count() <= 0) getFuture()->waitAndThrow();
      wait_for(*work_, timeout, speaker_.global_rank, name_);
      return true;
    });
  }

  FuturePtr getFuture() override {
    const FuturePtr future = work_->getFuture();
    // Copies, because the future may outlive this object.
    auto translated_future = future->then(
        [speaker = speaker_, name = name_](c10::ivalue::Future& done) {
          return translated_gloo(speaker, name, [&] { return done.value(); });
        },
        future->elementType());
    if (!watch_) return translated_future;
    return watch_->watched(translated_future, [speaker = speaker_, name = name_](const auto& peer) {
      return failed(speaker, name,
                    speaker.peers->explain("Connection closed by peer " + peer, waits_in(name)));
    });
  }

 private:
  WorkPtr work_;
  Speaker speaker_;
  std::string name_;
  std::shared_ptr<ForgottenOperations> watch_;
};

// Gloo, with a way through shared memory for the sums that can take it.
class Gloo : public c10d::ProcessGroupGloo {
 public:
  using ProcessGroupGloo::ProcessGroupGloo;

  ~Gloo() override {
    if (sums_) sums_->close();
  }

  void share(std::shared_ptr<SumQueue> sums, int global_rank) {
    sums_ = std::move(sums);
    global_rank_ = global_rank;
  }

  WorkPtr allreduce(std::vector<at::Tensor>& tensors,
                    const c10d::AllreduceOptions& options) override {
    if (!sums_ || !is_shared_sum(tensors, options.reduceOp))
      return ProcessGroupGloo::allreduce(tensors, options);
    const auto timeout = options.timeout.count() > 0 ? options.timeout : getOptions()->timeout;
    return shared_all_reduce(*sums_, tensors, timeout, global_rank_);
  }

 private:
  std::shared_ptr<SumQueue> sums_;
  int global_rank_ = -1;
};

// A backend whose failures are ddp::Error. These operations are what DistributedDataParallel runs
// on its own; for the others the callers translate.
template <class Base>
class TranslatedBackend : public Base {
 public:
  template <class... Arguments>
  explicit TranslatedBackend(Speaker speaker, Arguments&&... arguments)
      : Base(std::forward<Arguments>(arguments)...), speaker_(std::move(speaker)) {}

  // What all ranks take part in is watched from now on.
  void watch(std::vector<Connection> connections) {
    watch_ = std::make_shared<ForgottenOperations>(std::move(connections));
  }

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
    WorkPtr work = translated_gloo(speaker_, name, start);
    // What checks has started another backend's operation, which is translated there.
    if constexpr (!std::is_same_v<Base, Gloo>) return work;
    return c10::make_intrusive<TranslatedWork>(std::move(work), speaker_, name,
                                               waits_in(name).all ? watch_ : nullptr);
  }

  Speaker speaker_;
  std::shared_ptr<ForgottenOperations> watch_;
};

std::vector<std::string> wanted_interfaces() {
  const char* list = std::getenv("GLOO_SOCKET_IFNAME");
  std::vector<std::string> names;
  std::istringstream stream(list ? list : "");
  for (std::string name; std::getline(stream, name, ',');) names.push_back(name);
  return names;
}

// Of the calling thread only.
void give_way(int niceness) {
  // Always allowed; the answer is the niceness, which may be -1.
  [[maybe_unused]] const int now = ::nice(niceness);
}

// The event thread inherits the niceness of the one that makes it, and no thread without
// privileges can take back its own; so another one makes it.
auto options_of(const GlooSettings& settings) {
  const auto make = [&settings] {
    if (settings.event_niceness > 0) give_way(settings.event_niceness);
    return compat::gloo_options<c10d::ProcessGroupGloo>(settings.timeout, wanted_interfaces());
  };
  return std::async(std::launch::async, make).get();
}

std::exception_ptr failed(const Speaker& speaker, const Reason& reason) {
  return failed(speaker, "all_reduce", reason);
}

SumFailures failures_for(const Speaker& speaker) {
  return {
      .ended = [speaker](int rank) { return failed(speaker, speaker.peers->explain_ended(rank)); },
      .gave_up =
          [speaker](int rank) { return failed(speaker, speaker.peers->explain_gave_up(rank)); },
      .late =
          [speaker](const std::vector<int>& ranks, std::chrono::milliseconds waited) {
            return failed(speaker, speaker.peers->explain_late(ranks, waited));
          },
      .differs =
          [speaker](const std::string& difference) {
            return failed(speaker, {difference + ": tensors must be equal in size and type"});
          }};
}

void share_memory(Gloo& gloo, c10d::Store& store, const Members& members, const Speaker& speaker,
                  std::chrono::milliseconds timeout) {
  SharedMemory agreed = agree_on_shared_memory(store, members.rank, members.ranks, timeout);
  if (agreed.ranks) {
    gloo.share(std::make_shared<SumQueue>(std::move(*agreed.memory), std::move(*agreed.ranks),
                                          failures_for(speaker)),
               speaker.global_rank);
  } else if (members.rank == 0) {
    std::fprintf(stderr, "ddp: all_reduce goes through sockets and not shared memory: %s\n",
                 agreed.reason.c_str());
  }
}

}  // namespace

using BackendPtr = c10::intrusive_ptr<c10d::Backend>;

BackendPtr make_gloo_backend(const c10::intrusive_ptr<c10d::Store>& store, const Members& members,
                             Speaker speaker, const GlooSettings& settings) {
  const bool shares = settings.shared_memory && members.ranks.size() > 1 && can_share_memory();
  if (shares) offer_shared_memory(*store, members.rank);
  const std::vector<Connection> before = own_connections();
  auto gloo = c10::make_intrusive<TranslatedBackend<Gloo>>(
      speaker, store, members.rank, static_cast<int>(members.ranks.size()), options_of(settings));
  auto made = made_since(before, own_connections());
  // Not where the program has made others meanwhile, or Gloo makes its own later.
  if (made.size() + 1 == members.ranks.size() && speaker.peers) gloo->watch(std::move(made));
  if (shares) share_memory(*gloo, *store, members, speaker, settings.timeout);
  return gloo;
}

BackendPtr make_checking_backend(BackendPtr backend, BackendPtr gloo, Speaker speaker) {
  return c10::make_intrusive<TranslatedBackend<c10d::ProcessGroupWrapper>>(
      std::move(speaker), std::move(backend), std::move(gloo));
}

}  // namespace ddp::detail
