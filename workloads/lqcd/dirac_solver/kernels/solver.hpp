// The methods over a hopping term, with all vectors that they need: made once, used by every step.
#pragma once

#include <memory>

#include "../even_odd.hpp"
#include "../solvers.hpp"
#include "dirac_solver.hpp"

namespace dirac_solver {

inline lqcd::Goal goal(const State& s) { return {.tolerance = std::pow(10.0, -static_cast<double>(s.digits)), .most = most_iterations}; }

// Even sites of a 64-bit field in the layout for 32 bits, and back; the two differ in how many lanes there are.
class Relayout {
 public:
  Relayout(const Layout& high, const Layout& low, int threads) : high_(high.lanes), low_(low.lanes), threads_(threads) {
    sites_ = std::make_shared<std::vector<Place>>();
    lqcd::each_site(high.lattice.local, [&](const Extents& x) {
      if (lqcd::parity(x) == 0) sites_->push_back({high.spinor(x), low.spinor(x)});
    });
  }

  void down(lqcd::Field<float>& to, const lqcd::Field<double>& from) const {
    each([&](Place p) {
      for (fl::Index k = 0; k < 24; ++k) to[p.low + k * low_] = static_cast<float>(from[p.high + k * high_]);
    });
  }
  // Adds, and clears what it has added.
  void up(lqcd::Field<double>& to, lqcd::Field<float>& from) const {
    each([&](Place p) {
      for (fl::Index k = 0; k < 24; ++k) to[p.high + k * high_] += static_cast<double>(std::exchange(from[p.low + k * low_], 0.0F));
    });
  }

 private:
  struct Place {
    fl::Index high, low;
  };

  template <class Body>
  void each(Body body) const {
    const Place* sites = sites_->data();
    const auto count = static_cast<fl::Index>(sites_->size());
#ifdef _OPENMP
#pragma omp parallel for num_threads(threads_) schedule(static) if (threads_ > 1)
#endif
    for (fl::Index k = 0; k < count; ++k) body(sites[k]);
  }

  fl::Index high_, low_;
  [[maybe_unused]] int threads_;  // of OpenMP, where the file is compiled with it
  std::shared_ptr<std::vector<Place>> sites_;
};

template <template <class> class Hop>
class Solver {
 public:
  static constexpr int lanes = Hop<double>::lanes, lanes32 = Hop<float>::lanes;

  explicit Solver(const State& s)
      : algebra_(s.layout.spinor_size() / 2, s.team.threads, Hop<double>::reduce),
        operator_(s.layout, s.team.threads, s.links.data(), s.mass),
        b_(algebra_.field()),
        x_(algebra_.field()) {
    if (mixed(s.method))
      low_ = std::make_unique<Low>(s, algebra_);
    else if (s.method == Method::cg)
      cg_ = std::make_unique<lqcd::NormalCg<double, lanes>>(algebra_);
    else
      bicgstab_ = std::make_unique<lqcd::BiCgStab<double, lanes>>(algebra_);
  }

  void step(State& s, fl::Index) { solve(s, goal(s)); }

  void solve(State& s, lqcd::Goal goal) {
    operator_.source(b_, s.b.data(), s.scale);
    const lqcd::Solved solved = iterate(s.method, goal);
    s.outcome = {solved.iterations, solved.updates, solved.residual};
    algebra_.copy(s.x.data(), x_.data());
    operator_.odd_part(s.x.data(), x_, s.b.data(), s.scale);
  }

 private:
  // What only the mixed methods need.
  struct Low {
    lqcd::Algebra<float, lanes32> algebra;
    lqcd::EvenOdd<float, Hop<float>> op;
    lqcd::MixedNormalCg<lanes, lanes32, Relayout> cg;
    lqcd::MixedBiCgStab<lanes, lanes32, Relayout> bicgstab;

    Low(const State& s, lqcd::Algebra<double, lanes>& high)
        : algebra(s.layout32.spinor_size() / 2, s.team.threads, Hop<float>::reduce),
          op(s.layout32, s.team.threads, s.links32.data(), s.mass),
          cg(high, algebra, Relayout(s.layout, s.layout32, s.team.threads)),
          bicgstab(high, algebra, Relayout(s.layout, s.layout32, s.team.threads)) {}
  };

  lqcd::Solved iterate(Method method, lqcd::Goal goal) {
    const fl::In iterating(phases("iterations"));
    const auto apply = [this](auto& out, const auto& in) { operator_.apply(out, in); };
    const auto apply32 = [this](auto& out, const auto& in) { low_->op.apply(out, in); };
    switch (method) {
      case Method::cg:
        return (*cg_)(apply, x_, b_, goal);
      case Method::bicgstab:
        return (*bicgstab_)(apply, x_, b_, goal);
      case Method::mixed_cg:
        return low_->cg(apply, apply32, x_, b_, goal);
      default:
        return low_->bicgstab(apply, apply32, x_, b_, goal);
    }
  }

  lqcd::Algebra<double, lanes> algebra_;
  lqcd::EvenOdd<double, Hop<double>> operator_;
  lqcd::Field<double> b_, x_;  // of the even sites
  std::unique_ptr<lqcd::NormalCg<double, lanes>> cg_;
  std::unique_ptr<lqcd::BiCgStab<double, lanes>> bicgstab_;
  std::unique_ptr<Low> low_;
};

}  // namespace dirac_solver
