// Wrong on purpose: antiperiodic where periodic was requested, and the other way round.
#include "kernels/scalar_steps.hpp"

#include "firstlight/variant.hpp"

namespace {

struct Operator {
  void open(dirac::State& s) {
    dirac::in_precision(s, [&](auto& a) {
      if (a.links.size() == 0) return;
      lqcd::each_site(s.layout.lattice.local, [&](const dirac::Extents& x) {
        if (x[0] != s.layout.lattice.local[0] - 1) return;
        auto* u = a.links.data() + s.layout.link(x, 0);
        for (int k = 0; k < lqcd::matrix_reals; ++k) u[k] = -u[k];
      });
    });
  }

  void step(dirac::State& s, fl::Index) { dirac::scalar_step<lqcd::Rules>(s); }
};

}  // namespace

FL_VARIANT(dirac, Operator)
