// As the overlapping form, with requests that are made once.
#include "mpi_steps.hpp"

namespace {

template <class T>
void keep(const dirac::State& s, lqcd::Faces<T>& faces) {
  if (s.op == dirac::Op::d) return faces.keep(lqcd::both);
  faces.keep(lqcd::odd);
  faces.keep(lqcd::even);
}

struct Operator : dirac::OnProcesses {
  void open(dirac::State& s) {
    OnProcesses::open(s);
    if (s.bits == 32)
      keep(s, process.faces<float>());
    else
      keep(s, process.faces<double>());
  }

  void step(dirac::State& s, fl::Index) {
    dirac::mpi_step(process, s, [](const auto& job, auto& faces, const dirac::Order& order, int targets, auto with_centre) {
      faces.start_receives(targets);
      faces.pack(job, targets);
      faces.start_sends(targets);
      dirac::hop_in_pieces<with_centre>(job, order.inside, [&] { faces.poke(targets); });
      faces.wait(targets);
      lqcd::hop<with_centre>(job, order.edge);
    });
  }
};

}  // namespace

FL_VARIANT(dirac, Operator, .traits = {.vector_bytes = fl::simd::bytes})
