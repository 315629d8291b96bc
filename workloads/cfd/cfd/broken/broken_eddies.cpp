// Wrong on purpose: eddies carry epsilon as far as k, and not a part of it.
#include "kernels/simple.hpp"

namespace {

struct Wrong : cfd::FlowSides {
  static void transport_row(const cfd::Arrays& f, const double* q, const cfd::Diffusion& by, double central, fl::Index c, fl::Index n) {
    cfd::Diffusion wrong = by;
    if (q == f.scalar[cfd::dissipation]) wrong.share = 1;
    FlowSides::transport_row(f, q, wrong, central, c, n);
  }
};

using Run = cfd::Simple<cfd::Alone, cfd::PlainRows, false, Wrong>;

}  // namespace

FL_VARIANT(cfd, Run)
