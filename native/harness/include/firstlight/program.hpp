// The seam between the harness and a workload: a table of functions, filled by FL_WORKLOAD in a file that CMake generates.
#pragma once

#include <concepts>
#include <memory>

#include "firstlight/variant.hpp"

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
  virtual Index mutate_between_batches(Index next) = 0;
  virtual bool observes() const = 0;
  virtual void observe(Observations&) = 0;
  virtual bool draws() const = 0;
  virtual void draw(Picture&) = 0;
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

inline namespace FL_ROLE {
namespace seam {

// A workload is a namespace, which cannot be a template's argument: its optional functions are found by its State.
template <class State>
concept Observed = requires(State& state, Observations& seen) { observe(state, seen); };
template <class State>
concept Drawn = requires(State& state, Picture& picture) { draw(state, picture); };
template <class State>
concept MutatedBetweenBatches = requires(State& state, Index next) { mutate_between_batches(state, next); };
template <class State>
concept Reset = requires(State& state) { reset(state); };

template <class State>
void observe_if_wanted(State& state, Observations& seen) {
  if constexpr (Observed<State>) observe(state, seen);
}

template <class State>
void draw_if_wanted(State& state, Picture& picture) {
  if constexpr (Drawn<State>) draw(state, picture);
}

template <class State>
Index mutate_if_wanted(State& state, Index next) {
  if constexpr (MutatedBetweenBatches<State>) return mutate_between_batches(state, next);
  return next;
}

template <class State>
void reset_if_wanted(State& state) {
  if constexpr (Reset<State>) reset(state);
}

// Returns what `call` makes of the variant's traits if it has such an argument.
template <class Traits, class Call>
decltype(auto) with_traits(Call call) {
  if constexpr (std::invocable<Call, const Traits&>)
    return call(*static_cast<const Traits*>(variant.traits));
  else
    return call();
}

}  // namespace seam
}  // namespace FL_ROLE
}  // namespace fl

// Calls `function(arguments...)` or, if it has such an argument, `function(arguments..., traits)`.
#define FL_WITH_TRAITS(W, function, ...)        \
  fl::seam::with_traits<W::fl_declared::Found>( \
      [&](const auto&... traits) -> decltype(function(__VA_ARGS__, traits...)) { return function(__VA_ARGS__, traits...); })

#define FL_WORKLOAD(W)                                                                                                       \
  FL_DECLARED_BY(W)                                                                                                          \
  namespace W::fl_declared {                                                                                                 \
  static std::string refusal(const Params& params, const fl::Team& team) { return FL_WITH_TRAITS(W, refuse, params, team); } \
  }                                                                                                                          \
  namespace {                                                                                                                \
  class Erased final : public fl::Instance {                                                                                 \
    W::Params params_;                                                                                                       \
    W::State state_;                                                                                                         \
    void declare(fl::Fields& fields) override { params_.declare(fields); }                                                   \
    std::string refuse(const fl::Team& team) override { return W::fl_declared::refusal(params_, team); }                     \
    void init(const fl::Team& team) override { FL_WITH_TRAITS(W, W::init, state_, params_, team); }                          \
    fl::Cost cost(const fl::Team& team) override { return FL_WITH_TRAITS(W, W::cost, params_, team); }                       \
    void poison() override { W::poison(state_); }                                                                            \
    fl::Check check(fl::Index last) override { return W::check(state_, last); }                                              \
    bool resets() const override { return fl::seam::Reset<W::State>; }                                                       \
    void reset() override { fl::seam::reset_if_wanted(state_); }                                                             \
    fl::Index mutate_between_batches(fl::Index next) override { return fl::seam::mutate_if_wanted(state_, next); }           \
    bool observes() const override { return fl::seam::Observed<W::State>; }                                                  \
    void observe(fl::Observations& seen) override { fl::seam::observe_if_wanted(state_, seen); }                             \
    bool draws() const override { return fl::seam::Drawn<W::State>; }                                                        \
    void draw(fl::Picture& picture) override { fl::seam::draw_if_wanted(state_, picture); }                                  \
    void* state() override { return &state_; }                                                                               \
    const void* params() const override { return &params_; }                                                                 \
  };                                                                                                                         \
  std::unique_ptr<fl::Instance> create() { return std::make_unique<Erased>(); }                                              \
  }                                                                                                                          \
  const fl::Workload fl::workload{#W, &W::about, W::metrics, sizeof(W::metrics) / sizeof(W::metrics[0]), &create};
