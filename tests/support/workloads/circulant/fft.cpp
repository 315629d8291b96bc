// The transform of the solution is that of the right side over that of the first column.
#include "firstlight/fft.hpp"

#include <vector>

#include "circulant.hpp"

#include "firstlight/variant.hpp"

namespace {

using Vector = std::vector<std::complex<double>>;

Vector transformed(Vector in, int sign) {
  Vector out(in.size());
  fftw_plan_s* plan = fftw_plan_dft_1d(static_cast<int>(in.size()), in.data(), out.data(), sign, 64);
  fftw_execute(plan);
  fftw_destroy_plan(plan);
  return out;
}

void step(circulant::State& s, fl::Index) {
  const fl::Index n = s.x.size();
  Vector column;
  for (fl::Index i = 0; i < n; ++i) column.emplace_back(circulant::column(n, i));
  Vector y = transformed(Vector(s.b.begin(), s.b.end()), -1);
  const Vector by = transformed(column, -1);
  for (std::size_t k = 0; k < y.size(); ++k) y[k] /= by[k] * static_cast<double>(n);
  y = transformed(y, 1);
  for (fl::Index i = 0; i < n; ++i) s.y[i] = y[static_cast<std::size_t>(i)].real();
}

}  // namespace

FL_VARIANT(circulant, step)
