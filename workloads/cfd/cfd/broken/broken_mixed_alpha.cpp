// Wrong on purpose: factors of 32 bits compensate a little more than requested. The flow is the same in the end.
#include "../vector_rows.hpp"
#include "kernels/simple.hpp"

namespace {

struct Wrong : cfd::VectorRows {
  template <class View>
  static void sip_factor(const cfd::Rows& m, const View& f, double alpha, const cfd::Point& size, fl::Index k, fl::Index j) {
    VectorRows::sip_factor(m, f, alpha + 0.01, size, k, j);
  }
};

using Run = cfd::Simple<cfd::Alone, Wrong, true, cfd::FlowSides, float>;

}  // namespace

FL_VARIANT(cfd, Run, .traits = {.colours_together = true, .mixed = true})
