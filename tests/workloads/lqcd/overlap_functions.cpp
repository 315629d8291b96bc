// Exports the overlap operator and its approximation of the sign with C linkage for tests.
#include "../../support/heap.hpp"
#include "../even_odd.hpp"
#include "gauge.hpp"
#include "operator.hpp"

namespace fl {
std::string text(const char* format, ...) { return format; }
}  // namespace fl

extern "C" {

// Largest error; shifts and weights of `poles` poles on [least, 1].
double zolotarev(int poles, double least, double* shifts, double* weights) {
  const lqcd::Zolotarev z(poles, least);
  for (std::size_t l = 0; l < z.shift.size(); ++l) shifts[l] = z.shift[l], weights[l] = z.weight[l];
  return z.error;
}

// out = D_ov psi on n^4 with a constant flux, periodic; fields lexicographic, spin, colour, reim. Returns the iterations.
long long overlap(int n, long long flux, double rho, double least, int poles, double tolerance, const double* psi, double* out) {
  const lqcd::Extents global{n, n, n, n};
  const lqcd::TabledFields given = lqcd::tabled(
      lqcd::Lattice::whole(global), false, [&](const lqcd::Extents& x, std::size_t mu) { return lqcd::flux_link(x, mu, global, flux); });
  const lqcd::Layout layout(lqcd::Lattice::whole(global), 1);
  lqcd::Field<double> links(layout.links_size()), in(layout.spinor_size()), result(layout.spinor_size());
  lqcd::fill_links(links.data(), layout, given);
  lqcd::each_site(global, [&](const lqcd::Extents& x) {
    for (long long k = 0; k < 24; ++k) in[layout.spinor(x) + k] = psi[lqcd::number(x, global) * 24 + k];
  });
  lqcd::Overlap<lqcd::ScalarHop<double>> overlap(layout, 1, links.data(), rho, {least, 4 + (4 - rho)}, poles);
  const lqcd::Solved solved = overlap.apply(result, in, 1, {.tolerance = tolerance, .most = 10000});
  lqcd::each_site(global, [&](const lqcd::Extents& x) {
    for (long long k = 0; k < 24; ++k) out[lqcd::number(x, global) * 24 + k] = result[layout.spinor(x) + k];
  });
  return solved.iterations;
}

// Returns how often an operator is applied in this many iterations, here a diagonal one.
long long applications(long long* iterations) {
  lqcd::Algebra<double, 1> algebra(3072, 1);
  lqcd::MultishiftCg<1> solve(algebra, 2);
  lqcd::Field<double> x = algebra.field(), b = algebra.field();
  for (double& one : b) one = 1;
  long long count = 0;
  const auto apply = [&](lqcd::Field<double>& out, const lqcd::Field<double>& in) {
    ++count;
    for (long long i = 0; i < in.size(); ++i) out[i] = (1.1 + static_cast<double>(i % 7)) * in[i];
    return algebra.dot(in, out);
  };
  *iterations = solve(apply, {0.1, 0.5}, {1, 1}, x, b, {.tolerance = 1e-10, .most = 100}).iterations;
  return count;
}

// The bounds of |H| that the workload works with.
double least(int n, long long flux, double rho) {
  const lqcd::Extents global{n, n, n, n};
  const lqcd::TabledFields given = lqcd::tabled(
      lqcd::Lattice::whole(global), false, [&](const lqcd::Extents& x, std::size_t mu) { return lqcd::flux_link(x, mu, global, flux); });
  const lqcd::Layout layout(lqcd::Lattice::whole(global), 1);
  lqcd::Field<double> links(layout.links_size()), start(layout.spinor_size());
  lqcd::fill_links(links.data(), layout, given);
  lqcd::fill_spinor(start.data(), layout, given);
  return lqcd::bounds<lqcd::ScalarHop<double>>(layout, 1, links.data(), rho, start, 0.05).least;
}
}
