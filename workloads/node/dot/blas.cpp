// cblas_ddot of whichever library the build links; vectors longer than an int are taken in pieces.
#include <algorithm>

#include "dot.hpp"

#include "firstlight/blas.hpp"
#include "firstlight/variant.hpp"

namespace {

void step(dot::State& s, fl::Index) {
  constexpr fl::Index longest = fl::Index{1} << 30;
  double sum = 0;
  for (fl::Index done = 0; done < s.x.size(); done += longest) {
    const auto piece = static_cast<int>(std::min(longest, s.x.size() - done));
    sum += FL_CBLAS(ddot)(piece, s.x.data() + done, 1, s.y.data() + done, 1);
  }
  s.result = sum;
}

}  // namespace

FL_VARIANT(dot, step)
