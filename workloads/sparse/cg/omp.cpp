// Each thread is a party with rows of its own; all take the same scalars from the same sums.
#include <omp.h>

#include <optional>

#include "kernels/solver.hpp"

#include "firstlight/variant.hpp"

namespace {

struct alignas(64) Terms {
  std::vector<double> values;
};

struct Thread {
  const cg::Rows& a;
  const cg::Sweeps& sweeps;
  std::vector<Terms> (&terms)[2];  // of each thread, alternately: one is still read while the next is written
  fl::Part own;
  double* values = nullptr;
  int count = 0;
  std::size_t turn = 0;

  void multiply(const double* x, double* y) const {
    const fl::In in(cg::phases("products"));
#pragma omp barrier
    a.multiply(x, y, own);
#pragma omp barrier
  }
  void precondition(const double* r, double* z) const { sweeps.apply(r, z, own); }
  void start(double* first, int n) {
    values = first;
    count = n;
    turn = 1 - turn;
    terms[turn][static_cast<std::size_t>(omp_get_thread_num())].values.assign(first, first + n);
  }
  void finish() {
    const fl::In in(cg::phases("sums"));
#pragma omp barrier
    std::fill_n(values, count, 0.);
    for (const Terms& each : terms[turn])
      for (int k = 0; k < count; ++k) values[k] += each.values[static_cast<std::size_t>(k)];
  }
};

struct Step {
  std::optional<cg::Rows> a;
  std::optional<cg::Sweeps> sweeps;
  std::optional<cg::Vectors> vectors;
  std::vector<Terms> terms[2];

  void open(cg::State& s) {
    a.emplace(s.matrix, s.own, [](fl::Index, fl::Index) { return true; }, [](fl::Index c) { return c; });
    sweeps.emplace(s, s.team.threads);
    vectors.emplace(cg::vectors(s.p), s.own.size());
    for (auto& each : terms) each.resize(static_cast<std::size_t>(s.team.threads));
  }
  void step(cg::State& s, fl::Index) {
    const fl::In in(cg::phases("iterations"));
#pragma omp parallel num_threads(s.team.threads)
    {
      const int number = omp_get_thread_num();
      Thread thread{*a, *sweeps, terms, fl::part(s.own.size(), s.team.threads, number)};
      const cg::Outcome found = cg::Solver<Thread>(s, thread, *vectors).solve();
      if (number == 0) s.outcome = found;
    }
  }
};

}  // namespace

FL_VARIANT(cg, Step)
