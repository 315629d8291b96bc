// Wrong on purpose: the residual leaves out the face above.
#include "kernels/kernels.hpp"

namespace {

struct Wrong : cfd::PlainRows {
  static cfd::Sums sip_forward(cfd::Rows m, const cfd::SipFactor::View& f, const double* x, double* q, fl::Index c, fl::Index n) {
    const std::vector<double> none(static_cast<std::size_t>(n));
    m.a[cfd::T] = none.data() - c;
    return PlainRows::sip_forward(m, f, x, q, c, n);
  }
};

using sip = cfd_solver::Stone<cfd::Alone, Wrong>;

constexpr fl::Kernel table[] = {FL_KERNEL(cfd_solver, sip)};

}  // namespace

FL_KERNELS(cfd_solver, table)
