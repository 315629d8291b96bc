// The seam between the harness and a workload: a table of functions, filled by FL_WORKLOAD in a file that CMake generates.
#pragma once

#include <memory>

#include "firstlight/workload.hpp"

namespace fl {

// A workload with its parameters and state, type erased.
class Instance {
 public:
  virtual ~Instance() = default;
  virtual void declare(Fields&) = 0;
  virtual std::string refuse(const Team&) = 0;
  virtual void init(const Team&) = 0;
  virtual Cost cost(const Team&) = 0;
  virtual void poison() = 0;
  virtual Check check(Index last_iteration) = 0;
  virtual bool resets() const = 0;
  virtual void reset() = 0;
  virtual bool observes() const = 0;
  virtual void observe(Observations&) = 0;
  virtual void* state() = 0;
  virtual const void* params() const = 0;
};

struct Workload {
  const char* name;
  const About* about;
  const Metric* metrics;
  std::size_t metric_count;
  std::unique_ptr<Instance> (*create)();
};

extern const Workload workload;

namespace detail {

// A workload is a namespace, which cannot be a template's argument: its optional functions are found by its State.
template <class State>
concept Observed = requires(State& state, Observations& seen) { observe(state, seen); };
template <class State>
concept Reset = requires(State& state) { reset(state); };

template <class State>
void observe_if_wanted(State& state, Observations& seen) {
  if constexpr (Observed<State>) observe(state, seen);
}

template <class State>
void reset_if_wanted(State& state) {
  if constexpr (Reset<State>) reset(state);
}

}  // namespace detail
}  // namespace fl

#define FL_WORKLOAD(W)                                                                             \
  namespace {                                                                                      \
  class Erased final : public fl::Instance {                                                       \
    W::Params params_;                                                                             \
    W::State state_;                                                                               \
    void declare(fl::Fields& fields) override { params_.declare(fields); }                         \
    std::string refuse(const fl::Team& team) override { return W::refuse(params_, team); }         \
    void init(const fl::Team& team) override { W::init(state_, params_, team); }                   \
    fl::Cost cost(const fl::Team& team) override { return W::cost(params_, team); }                \
    void poison() override { W::poison(state_); }                                                  \
    fl::Check check(fl::Index last) override { return W::check(state_, last); }                    \
    bool resets() const override { return fl::detail::Reset<W::State>; }                           \
    void reset() override { fl::detail::reset_if_wanted(state_); }                                 \
    bool observes() const override { return fl::detail::Observed<W::State>; }                      \
    void observe(fl::Observations& seen) override { fl::detail::observe_if_wanted(state_, seen); } \
    void* state() override { return &state_; }                                                     \
    const void* params() const override { return &params_; }                                       \
  };                                                                                               \
  std::unique_ptr<fl::Instance> create() { return std::make_unique<Erased>(); }                    \
  }                                                                                                \
  const fl::Workload fl::workload{#W, &W::about, W::metrics, sizeof(W::metrics) / sizeof(W::metrics[0]), &create};
