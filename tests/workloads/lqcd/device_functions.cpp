// The kernel of the CUDA variant of dirac as a plain loop with C linkage, so that its arithmetic is tested where no GPU is.
#include "device.hpp"

#include <vector>

#include "../../support/heap.hpp"
#include "scalar.hpp"

namespace fl {
std::string text(const char* format, ...) { return format; }
}  // namespace fl

namespace {

// Fields as the variant lays them out, and its two kernels an operator.
template <class T>
struct Bench {
  lqcd::Layout layout;
  lqcd::device::Shape shape;
  std::vector<T> links, psi, half, out;

  Bench(const lqcd::Extents& extents, bool antiperiodic) : layout(lqcd::Lattice::whole(extents), 1) {
    const lqcd::GivenFields given{extents, antiperiodic};
    for (std::size_t mu = 0; mu < 4; ++mu) shape.n[mu] = static_cast<int>(extents[mu]);
    shape.half_row = static_cast<int>(layout.half_row);
    shape.sites = layout.half_volume;
    std::vector<T> plain(static_cast<std::size_t>(layout.links_size()));
    lqcd::fill_links(plain.data(), layout, given);
    links = turned(plain, 72);
    plain.resize(static_cast<std::size_t>(layout.spinor_size()));
    lqcd::fill_spinor(plain.data(), layout, given);
    psi = turned(plain, 24);
    half.resize(psi.size() / 2);
    out.assign(psi.size(), T(1e30));
  }

  std::vector<T> turned(const std::vector<T>& from, int reals) const {
    std::vector<T> to(from.size());
    for (std::size_t first = 0; first < from.size(); first += from.size() / 2)
      lqcd::device::side_by_side(to.data() + first, from.data() + first, shape.sites, reals);
    return to;
  }

  void run(int target, const T* from, const T* centre, T* to, T a, T b) const {
    const long long n = 72 * shape.sites;
    for (long long site = 0; site < shape.sites; ++site)
      lqcd::device::hop_site(
          lqcd::device::Job<T>{shape, target, links.data() + target * n, links.data() + (1 - target) * n, from, centre, to, a, b}, site);
  }

  void apply(bool dhat) {
    const T m = T(4 + lqcd::mass);
    const long long odd = 24 * shape.sites;
    if (dhat) {
      run(1, psi.data(), nullptr, half.data(), 0, T(-0.5));
      run(0, half.data(), psi.data(), out.data(), m, T(0.5) / m);
    } else {
      run(0, psi.data() + odd, psi.data(), out.data(), m, T(-0.5));
      run(1, psi.data(), psi.data() + odd, out.data() + odd, m, T(-0.5));
    }
  }
};

// out: the field site by site in lexicographic order, spin, colour, reim; of Dhat only even sites are meaningful
template <class T>
void apply(const lqcd::Extents& extents, bool antiperiodic, bool dhat, double* out) {
  Bench<T> bench(extents, antiperiodic);
  bench.apply(dhat);
  std::vector<T> plain(bench.out.size());
  for (std::size_t first = 0; first < plain.size(); first += plain.size() / 2)
    lqcd::device::site_by_site(plain.data() + first, bench.out.data() + first, bench.shape.sites, 24);
  lqcd::each_site(extents, [&](const lqcd::Extents& x) {
    for (long long k = 0; k < 24; ++k)
      out[lqcd::number(x, extents) * 24 + k] = static_cast<double>(plain[static_cast<std::size_t>(bench.layout.spinor(x) + k)]);
  });
}

}  // namespace

extern "C" void apply_device(int t, int x, int y, int z, int bits, int antiperiodic, int dhat, double* out) {
  const lqcd::Extents extents{t, x, y, z};
  if (bits == 32)
    apply<float>(extents, antiperiodic != 0, dhat != 0, out);
  else
    apply<double>(extents, antiperiodic != 0, dhat != 0, out);
}
