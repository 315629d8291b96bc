// The builder of variants on one core: direct.hpp for numbers of type V, with the phases of the harness.
#pragma once

#include "direct.hpp"
#include "run.hpp"

namespace hartree_fock {

template <class V>
struct OneCore {
  Direct<V> direct;

  void prepare(State& s) { direct.prepare(s.shells, s.p.tau); }
  void build(const double* density, double* g) {
    direct.build(density, g, [](auto number, auto&& work) {
      const fl::In in(class_phases[number]);
      work();
    });
  }
  std::array<fl::Index, class_count> quartets() const { return direct.quartets; }
};

}  // namespace hartree_fock
