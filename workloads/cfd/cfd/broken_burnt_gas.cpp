// Wrong on purpose: fuel burns by itself and the oxygen, whether or not burnt gas is there to light it.
#include "simple.hpp"

namespace {

struct Wrong : cfd::FlowSides {
  static double scalar_row(const cfd::Arrays& f, std::size_t q, double volume, double relax, fl::Index c, fl::Index n) {
    const double sum = FlowSides::scalar_row(f, q, volume, relax, c, n);
    if (q != cfd::fuel) return sum;
    for (fl::Index at = c; at < c + n; ++at) {
      const double is = scarcest(f.scalar[cfd::fuel][at], f.scalar[cfd::mixture][at]), burns = f.scalar[cfd::fuel][at];
      f.b[at] += volume * source(f, q, at).falls * (is - burns);
    }
    return sum;
  }
};

using Run = cfd::Simple<cfd::Alone, cfd::PlainRows, false, Wrong>;

}  // namespace

FL_VARIANT(cfd, Run)
