// The factors between the two transforms are those of another number of points.
#include "kernels/six_step.hpp"

#include "firstlight/variant.hpp"

namespace {

struct Another : fft::SixStep<fl::OwnFourier, spectral::Alone> {
  void open(fft::State& s) {
    SixStep::open(s);
    roots = spectral::Roots<double>(s.p.n + 1);
  }
};

}  // namespace

FL_VARIANT(fft, Another)
