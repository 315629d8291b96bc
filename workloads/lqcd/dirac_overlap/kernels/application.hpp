// The operator with all vectors that it needs, made after the fields, used by every step.
#pragma once

#include "dirac_overlap.hpp"
#include "operator.hpp"

namespace dirac_overlap {

template <class Hop>
class Application {
 public:
  explicit Application(const State& s) : Application(s, {s.least, s.most}) {}
  Application(const State& s, lqcd::Bounds bounds) : overlap(s.layout, s.team.threads, s.links.data(), s.rho, bounds, s.poles) {}

  void step(State& s, fl::Index) {
    const fl::In applying(phases("application"));
    const lqcd::Goal goal{.tolerance = std::pow(10.0, -static_cast<double>(s.digits)), .most = 100000};
    s.outcome.iterations = overlap.apply(s.out, s.psi, s.scale, goal).iterations;
  }

  lqcd::Overlap<Hop> overlap;
};

}  // namespace dirac_overlap
