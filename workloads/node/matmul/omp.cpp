// The packed product by a team: panels of B are packed by all and read by all, each thread has rows of C of its own.
#include <omp.h>

#include "kernels/packed.hpp"

#include "firstlight/variant.hpp"

namespace {

// Rows of all three matrices go to the thread that multiplies them.
void place(matmul::State& s) {
  const fl::Index n = s.n;
  matmul::in_precision(s, [&](auto& m, auto zero) {
#pragma omp parallel num_threads(s.team.threads)
    {
      const fl::Part own = fl::part_in_units(n, omp_get_num_threads(), omp_get_thread_num(), matmul::tile_rows);
      for (auto* matrix : {&m.a, &m.b, &m.c}) std::fill_n(matrix->data() + own.begin * n, own.size() * n, decltype(zero){});
    }
  });
}

struct Threads {
  matmul::BothPacked packed;

  void open(matmul::State& s) { packed.open(s); }
  void step(matmul::State& s, fl::Index) {
#pragma omp parallel num_threads(s.team.threads)
    packed.multiply(s, omp_get_thread_num(), omp_get_num_threads(), [] {
#pragma omp barrier
    });
  }
};

}  // namespace

FL_VARIANT(matmul, Threads, .first_touch = place)
