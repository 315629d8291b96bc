// Wrong on purpose: directions that are a little less than conjugate. It converges all the same.
#include "kernels/kernels.hpp"

namespace {

struct Wrong : cfd::PlainRows {
  static void turn(double beta, const double* z, double* p, fl::Index c, fl::Index n) { PlainRows::turn(0.999 * beta, z, p, c, n); }
};

using cg = cfd_solver::ConjugateGradients<cfd::Alone, Wrong, false>;
using iccg = cfd_solver::ConjugateGradients<cfd::Alone, Wrong, true>;

constexpr fl::Kernel table[] = {FL_KERNEL(cfd_solver, cg), FL_KERNEL(cfd_solver, iccg)};

}  // namespace

FL_KERNELS(cfd_solver, table)
