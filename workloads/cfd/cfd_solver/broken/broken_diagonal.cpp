// Wrong on purpose: the diagonal of the factor is that of the matrix.
#include "kernels/kernels.hpp"

namespace {

struct Wrong : cfd::PlainRows {
  static void sip_factor(const cfd::Rows& m, const cfd::SipFactor::View& f, double alpha, const cfd::Point& size, fl::Index k,
                         fl::Index j) {
    PlainRows::sip_factor(m, f, alpha, size, k, j);
    for (fl::Index i = 0; i < size[2]; ++i) f.lp[m.at(k, j) + i] = 1 / m.a[cfd::P][m.at(k, j) + i];
  }
};

using sip = cfd_solver::Stone<cfd::Alone, Wrong>;

constexpr fl::Kernel table[] = {FL_KERNEL(cfd_solver, sip)};

}  // namespace

FL_KERNELS(cfd_solver, table)
