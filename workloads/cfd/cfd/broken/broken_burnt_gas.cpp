// Wrong on purpose: fuel burns by itself and the oxygen, whether or not burnt gas is there to light it.
#include "kernels/simple.hpp"

namespace {

struct Wrong : cfd::FlowSides {
  static void scalar_row(const cfd::Arrays& f, std::size_t q, double volume, double relax, fl::Index c, fl::Index n) {
    FlowSides::scalar_row(f, q, volume, relax, c, n);
    if (q != cfd::fuel) return;
    for (fl::Index at = c; at < c + n; ++at) {
      const double is = scarcest(f.scalar[cfd::fuel][at], f.scalar[cfd::mixture][at]), burns = f.scalar[cfd::fuel][at];
      f.b[at] += volume * source(f, q, at).falls * (is - burns);
    }
  }
};

using Run = cfd::Simple<cfd::Alone, cfd::PlainRows, false, Wrong>;

}  // namespace

FL_VARIANT(cfd, Run)
