// A thread a site on one GPU. Fields lie on the device from the set-up on: what is timed is the kernels, from the start of the first to
// the end of the last.
#include <tuple>
#include <vector>

#include "../device.hpp"
#include "dirac.hpp"
#include "firstlight/cuda.hpp"

namespace {

namespace device = lqcd::device;

using fl::cuda::Memory;
using fl::cuda::must;

template <class T>
struct Fields {
  Memory<T> links, psi, half, out;
};

template <class T>
__global__ void hop(device::Job<T> job) {
  const auto site = static_cast<fl::Index>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (site == 0) fl::device::note();
  if (site < job.shape.sites) device::hop_site(job, site);
}

template <class T>
void launch(const device::Job<T>& job) {
  constexpr unsigned threads = 128;
  hop<<<static_cast<unsigned>((job.shape.sites + threads - 1) / threads), threads>>>(job);
}

device::Shape shape(const dirac::State& s) {
  device::Shape shape;
  for (std::size_t mu = 0; mu < 4; ++mu) shape.n[mu] = static_cast<int>(s.layout.outer[mu]);
  shape.half_row = static_cast<int>(s.layout.half_row);
  shape.sites = s.layout.half_volume;
  return shape;
}

// Both parities of a field, one after the other.
template <class T>
void upload(Memory<T>& to, const fl::Array<T>& from, fl::Index sites, int reals) {
  std::vector<T> turned(static_cast<std::size_t>(from.size()));
  for (fl::Index first = 0; first < from.size(); first += sites * reals)
    device::side_by_side(turned.data() + first, from.data() + first, sites, reals);
  to.allocate(from.size());
  to.from(turned.data());
}

template <class T>
void download(fl::Array<T>& to, Memory<T>& from, fl::Index sites) {
  std::vector<T> turned(static_cast<std::size_t>(to.size()));
  from.to(turned.data());
  for (fl::Index first = 0; first < to.size(); first += sites * 24)
    device::site_by_site(to.data() + first, turned.data() + first, sites, 24);
  from.poison();
}

template <class T>
void apply(const dirac::State& s, Fields<T>& f) {
  const device::Shape grid = shape(s);
  const fl::Index spinors = 24 * grid.sites;
  const T diagonal = static_cast<T>(4 + lqcd::mass), scale = static_cast<T>(s.scale);
  const T* const links[2] = {f.links.data(), f.links.data() + 72 * grid.sites};
  const auto run = [&](int target, const T* psi, const T* centre, T* out, T a, T b) {
    launch(device::Job<T>{grid, target, links[target], links[1 - target], psi, centre, out, a, b});
  };
  if (s.op == dirac::Op::d) {
    run(0, f.psi.data() + spinors, f.psi.data(), f.out.data(), scale * diagonal, scale * T(-0.5));
    run(1, f.psi.data(), f.psi.data() + spinors, f.out.data() + spinors, scale * diagonal, scale * T(-0.5));
  } else {
    run(1, f.psi.data(), nullptr, f.half.data(), T(0), T(-0.5));
    run(0, f.half.data(), f.psi.data(), f.out.data(), scale * diagonal, scale * T(0.5) / diagonal);
  }
}

std::string refuse(const dirac::Params& p) {
  if (!dirac::is_operator(p.op)) return "this variant of dirac runs operator=D and operator=Dhat";
  return "";
}

struct Operator {
  std::tuple<Fields<float>, Fields<double>> both;

  template <class T>
  Fields<T>& fields(const dirac::Arrays<T>&) {
    return std::get<Fields<T>>(both);
  }

  void open(dirac::State& s) {
    s.object = this;
    s.fetch = [](dirac::State& state) { static_cast<Operator*>(state.object)->fetch(state); };
    s.changed = [](dirac::State& state) { static_cast<Operator*>(state.object)->take(state); };
    dirac::in_precision(s, [&](auto& a) {
      auto& f = fields(a);
      upload(f.links, a.links, s.layout.half_volume, 72);
      upload(f.psi, a.psi, s.layout.half_volume, 24);
      f.half.allocate(a.psi.size() / 2);
      f.out.allocate(a.out.size());
    });
  }

  void take(dirac::State& s) {
    dirac::in_precision(s, [&](auto& a) { upload(fields(a).psi, a.psi, s.layout.half_volume, 24); });
  }

  void fetch(dirac::State& s) {
    dirac::in_precision(s, [&](auto& a) { download(a.out, fields(a).out, s.layout.half_volume); });
  }

  void step(dirac::State& s, fl::Index) {
    dirac::in_precision(s, [&](auto& a) { apply(s, fields(a)); });
    fl::cuda::finished();
  }
};

}  // namespace

FL_VARIANT(dirac, Operator, .refuse = refuse, .device = &fl::device::cuda)
