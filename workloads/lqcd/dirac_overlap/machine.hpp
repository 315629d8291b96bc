// The hooks of a variant: one operator with all vectors that it needs, made after the fields, used by every step.
#pragma once

#include <chrono>
#include <memory>

#include "dirac_overlap.hpp"
#include "operator.hpp"

namespace dirac_overlap {

template <class Hop>
struct Works {
  static inline std::unique_ptr<lqcd::Overlap<Hop>> overlap;

  static void setup(State& s) {
    overlap = std::make_unique<lqcd::Overlap<Hop>>(s.layout, s.team.threads, s.links.data(), s.rho, lqcd::Bounds{s.least, s.most}, s.poles);
  }
  static void finish(State&) { overlap.reset(); }

  static void step(State& s, fl::Index) {
    const auto now = [] { return std::chrono::steady_clock::now(); };
    const auto began = now();
    const lqcd::Goal goal{.tolerance = std::pow(10.0, -static_cast<double>(s.digits)), .most = 100000};
    s.outcome.iterations = overlap->apply(s.out, s.psi, s.scale, goal).iterations;
    s.outcome.seconds = std::chrono::duration<double>(now() - began).count();
  }
};

}  // namespace dirac_overlap
