// The rows in the middle that need nothing from others are multiplied while the rest of x travels.
#include "kernels/lanes.hpp"
#include "kernels/processes.hpp"
#include "kernels/streamed.hpp"

#include "firstlight/variant.hpp"

namespace {

template <class Format, fl::Index height>  // rows of a unit
struct Overlap : spmv::Processes<Format> {
  fl::Part inner;  // units

  void open(spmv::State& s) {
    spmv::Processes<Format>::open(s);
    const fl::Part rows = longest_run(s);
    // Whole windows, within which rows may be in another order.
    const fl::Index begin = spmv::pieces(rows.begin, spmv::window), end = rows.end / spmv::window;
    if (begin < end) inner = {begin * (spmv::window / height), end * (spmv::window / height)};
    s.overlapped = static_cast<double>(inner.size() * height) / static_cast<double>(std::max<fl::Index>(s.own.size(), 1));
  }
  void step(spmv::State& s, fl::Index) {
    const double* x = s.x.data();
    double* y = s.y.data();
    this->halo->start(x);
    this->a->multiply(x, y, s.scale, inner);
    this->halo->finish(s.x.data());
    this->a->multiply(x, y, s.scale, {0, inner.begin});
    this->a->multiply(x, y, s.scale, {inner.end, this->a->units()});
  }

 private:
  // The most rows side by side that have no element of another process.
  static fl::Part longest_run(const spmv::State& s) {
    fl::Part best, run;
    for (fl::Index i = 0; i < s.own.size(); ++i) {
      bool alone = true;
      s.matrix.row(s.own.begin + i, [&](fl::Index c, double) { alone = alone && c >= s.own.begin && c < s.own.end; });
      run = alone ? fl::Part{run.begin, i + 1} : fl::Part{i + 1, i + 1};
      if (run.size() > best.size()) best = run;
    }
    return best;
  }
};

using csr = Overlap<spmv::Csr, 1>;
using streamed2 = Overlap<spmv::Streamed<2>, 2>;
using streamed4 = Overlap<spmv::Streamed<4>, 4>;
using sell = Overlap<spmv::Sell, spmv::chunk>;

constexpr fl::Kernel table[] = {FL_KERNEL(spmv, csr), FL_KERNEL(spmv, streamed2), FL_KERNEL(spmv, streamed4), FL_KERNEL(spmv, sell)};

}  // namespace

FL_KERNELS(spmv, table)
