// A step, the same for every variant. What they differ in is a Builder:
//   void prepare(State&);                              pairs of shells and their bounds, of the geometry of this step
//   void build(const double* density, double* g);      the whole symmetric G, the same on every rank
//   std::array<fl::Index, class_count> quartets() const;   of the last G, on this process
// and, where it must know threads or sizes, or frees its memory, void open(State&) and void close(State&).
#pragma once

#include "firstlight/variant.hpp"
#include "scf.hpp"

namespace hartree_fock {

template <class Builder>
struct Run {
  Builder builder;

  void open(State& s) {
    if constexpr (requires { builder.open(s); }) builder.open(s);
  }
  void close(State& s) {
    if constexpr (requires { builder.close(s); }) builder.close(s);
  }
  void step(State& s, fl::Index) {
    fl::during(phases("pairs"), [&] { builder.prepare(s); });
    if (s.p.task == Task::matrix)
      builder.build(s.density.data(), s.g.data());
    else
      SelfConsistentField<Builder>(s, builder).solve();
    s.outcome.quartets = builder.quartets();
  }
};

}  // namespace hartree_fock
