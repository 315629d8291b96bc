// Processes of threads: all of them pack and work on the sites without halo while the first one sees to the messages.
#include <omp.h>

#include "kernels/mpi_steps.hpp"
#include "kernels/placed_fields.hpp"

namespace {

template <class T>
void algebra(dirac::State& s, dirac::Arrays<T>& a) {
  double re = 0, im = 0;
#pragma omp parallel num_threads(s.team.threads) reduction(+ : re, im)
  {
    const dirac::Part mine{omp_get_thread_num(), omp_get_num_threads()};
    if (s.op == dirac::Op::axpy) {
      dirac::axpy_part(s, a, mine);
    } else {
      const dirac::Complex part = s.op == dirac::Op::dot ? dirac::dot_part(a, mine) : dirac::norm_part(a, mine);
      re += part.re, im += part.im;
    }
  }
  if (s.op == dirac::Op::axpy) return;
  s.sum = {s.scale * re, s.scale * im};
  dirac::sum_over_processes(s.sum);
}

template <bool with_centre, class T>
void hop(const dirac::State& s, const lqcd::Hop<T>& job, lqcd::Faces<T>& faces, const dirac::Order& order, int targets) {
#pragma omp parallel num_threads(s.team.threads)
  {
    const dirac::Part mine{omp_get_thread_num(), omp_get_num_threads()};
#pragma omp master
    faces.receive(targets);
#pragma omp for schedule(dynamic)
    for (int task = 0; task < faces.tasks(targets); ++task) faces.pack(job, targets, task);
#pragma omp master
    faces.send(targets);
    const auto n = static_cast<fl::Index>(order.inside.size());
    const std::vector<lqcd::Run> inside(order.inside.begin() + mine.begin(n), order.inside.begin() + mine.end(n));
    dirac::hop_in_pieces<with_centre>(job, inside, [&] {
      if (mine.number == 0) faces.poke(targets);
    });
#pragma omp master
    faces.wait(targets);
#pragma omp barrier
    dirac::hop_part<with_centre>(job, order.edge, mine);
  }
}

struct Operator : dirac::OnProcesses {
  void step(dirac::State& s, fl::Index) {
    dirac::in_precision(s, [&](auto& a) {
      if (!dirac::is_operator(s.op)) return algebra(s, a);
      dirac::exchanged(process, s, a, [&](const auto& job, auto& faces, const dirac::Order& order, int targets, auto with_centre) {
        hop<with_centre>(s, job, faces, order, targets);
      });
    });
  }
};

}  // namespace

FL_VARIANT(dirac, Operator, .first_touch = dirac::place_fields, .traits = {.vector_bytes = fl::simd::bytes})
