// Wrong on purpose: nothing of what the factors have beyond the matrix is compensated. It converges all the same.
#include "kernels/kernels.hpp"

namespace {

struct Wrong : cfd::PlainRows {
  static void sip_factor(const cfd::Rows& m, const cfd::SipFactor::View& f, double, const cfd::Point& size, fl::Index k, fl::Index j) {
    PlainRows::sip_factor(m, f, 0, size, k, j);
  }
};

using sip = cfd_solver::Stone<cfd::Alone, Wrong>;

constexpr fl::Kernel table[] = {FL_KERNEL(cfd_solver, sip)};

}  // namespace

FL_KERNELS(cfd_solver, table)
