// What an iteration does to a row of cells. `c` is the element of a row's first cell, `n` the number of its cells. Each cell reads the fluxes
// of its six faces and writes only what is its own, so rows are computed in any order.
#pragma once

#include "firstlight/simd.hpp"
#include "state.hpp"

namespace cfd {

// The place of the neighbour on the lower and on the upper side along d.
inline constexpr std::size_t lower_place(std::size_t d) { return 5 - 2 * d; }
inline constexpr std::size_t upper_place(std::size_t d) { return 6 - 2 * d; }

// Addresses of cell (0, 0, 0) of the block, and the elements from a cell to the next along each dimension.
template <class Real>
struct ArraysOf {
  using Number = Real;

  std::array<Real*, 7> a{};
  Real *b = nullptr, *correction = nullptr, *pressure = nullptr;
  std::array<Real*, 3> velocity{}, flux{};
  std::array<Real*, 3> response{};  // volume over the diagonal of a velocity's equation: how it follows the gradient of the pressure
  std::array<Real*, 3> free{};      // a velocity without its gradient of the pressure
  std::array<Real*, scalars> scalar{};
  Real *density = nullptr, *eddy = nullptr, *production = nullptr;  // eddy: the viscosity; where there is none, the density is 1
  std::array<Index, 3> stride{};

  Index at(Index k, Index j) const { return k * stride[0] + j * stride[1]; }
  // The next cell on the lower and on the upper side along d.
  Index below(std::size_t d, Index at) const { return at - stride[d]; }
  Index above(std::size_t d, Index at) const { return at + stride[d]; }
};
using Arrays = ArraysOf<double>;
// In which a row is computed.
template <class A>
using NumberOf = typename std::remove_cvref_t<A>::Number;
// Lengths and areas in these.
template <class Real>
std::array<Real, 3> rounded(const Vector& v) {
  return {static_cast<Real>(v[0]), static_cast<Real>(v[1]), static_cast<Real>(v[2])};
}

// Where cells find the next ones by number (../neighbours.hpp).
struct NumberedArrays : Arrays {
  std::array<const std::int32_t*, 7> neighbour{};
  Index below(std::size_t d, Index at) const { return neighbour[lower_place(d)][at]; }
  Index above(std::size_t d, Index at) const { return neighbour[upper_place(d)][at]; }
};

// What a face lets through: area over distance, times the viscosity and a share of the eddies'.
struct Diffusion {
  Vector shape{};
  double viscosity = 0, share = 1;
};

// The viscosity of the faces between a cell and the next one.
template <class Real>
struct SameViscosity {
  Real viscosity;
  Real operator()(Index, Index) const { return viscosity; }
};
template <class Real>
struct EddyViscosity {
  Real viscosity, share;
  const Real* eddy;
  Real operator()(Index at, Index next) const { return viscosity + share / 2 * (eddy[at] + eddy[next]); }
};
template <class Real>
struct SameDensity {
  Real operator()(Index, Index) const { return 1; }
};
template <class Real>
struct MeanDensity {
  const Real* density;
  Real operator()(Index at, Index next) const { return (density[at] + density[next]) / 2; }
};
// work(density of faces)
template <class Real, class Work>
void with_density(const ArraysOf<Real>& f, Work work) {
  f.density != nullptr ? work(MeanDensity<Real>{f.density}) : work(SameDensity<Real>{});
}

struct FlowRows {
  // Sets the row of a transported quantity q: the upwind matrix, and the residual of its equation if faces carry `central` of the mean of
  // the cells beside them, the rest upwind. The matrix is that of a correction: if the residual is zero, the matrix has no influence.
  template <class Real>
  static void transport_row(const auto& f, const Real* q, const Diffusion& by, double central, Index c, Index n) {
    const auto viscosity = static_cast<Real>(by.viscosity), share = static_cast<Real>(by.share);
    if (f.eddy != nullptr)
      transport(f, q, rounded<Real>(by.shape), EddyViscosity<Real>{viscosity, share, f.eddy}, static_cast<Real>(central), c, n);
    else
      transport(f, q, rounded<Real>(by.shape), SameViscosity<Real>{viscosity}, static_cast<Real>(central), c, n);
  }
  template <class Real, class Viscosity>
  static void transport(const auto& f, const Real* q, std::array<Real, 3> shape, Viscosity viscosity, Real central, Index c, Index n) {
    FL_INDEPENDENT
    for (Index at = c; at < c + n; ++at) {
      Real diagonal = 0, left = 0;
      for (std::size_t d = 0; d < 3; ++d) {
        const Index lower = f.below(d, at), upper = f.above(d, at);
        const Real below = f.flux[d][lower], above = -f.flux[d][at];
        const Real g_below = shape[d] * viscosity(lower, at), g_above = shape[d] * viscosity(at, upper);
        const Real from_below = g_below + std::max(below, Real{0}), from_above = g_above + std::max(above, Real{0});
        f.a[lower_place(d)][at] = -from_below;
        f.a[upper_place(d)][at] = -from_above;
        diagonal += from_below + from_above;
        left += (q[lower] - q[at]) * (central * (g_below + below / 2) + (1 - central) * from_below) +
                (q[upper] - q[at]) * (central * (g_above + above / 2) + (1 - central) * from_above);
      }
      f.a[P][at] = diagonal;
      f.b[at] = left;
    }
  }

  // The rest of a velocity's equation: the pressure, how the velocity follows it, and relaxation. Returns the sum of what is left.
  static double momentum_row(const auto& f, std::size_t d, NumberOf<decltype(f)> volume, NumberOf<decltype(f)> spacing,
                             NumberOf<decltype(f)> relax, Index c, Index n) {
    const auto half = volume / 2 / spacing;
    double sum = 0;
    for (Index at = c; at < c + n; ++at) {
      f.b[at] -= half * (f.pressure[f.above(d, at)] - f.pressure[f.below(d, at)]);
      f.response[d][at] = volume / f.a[P][at];
      f.a[P][at] /= relax;
      f.correction[at] = 0;
      sum += std::fabs(f.b[at]);
    }
    return sum;
  }

  // A velocity is corrected; what it would be without its gradient of the pressure.
  static void free_row(const auto& f, std::size_t d, NumberOf<decltype(f)> spacing, Index c, Index n) {
    FL_INDEPENDENT
    for (Index at = c; at < c + n; ++at) {
      const auto u = f.velocity[d][at] + f.correction[at];
      f.velocity[d][at] = u;
      f.free[d][at] = u + f.response[d][at] * (f.pressure[f.above(d, at)] - f.pressure[f.below(d, at)]) / (2 * spacing);
    }
  }

  // What flows through faces along d, by the pressures next to each and not those of every second cell: C. M. Rhie, W. L. Chow, AIAA J. 21
  // (1983) 1525. Here with the response that is not relaxed, so that the final flow does not depend on relaxation.
  static void flux_row(const auto& f, std::size_t d, NumberOf<decltype(f)> area, NumberOf<decltype(f)> spacing, Index c, Index n) {
    with_density(f, [=, &f](auto density) {
      FL_INDEPENDENT
      for (Index at = c; at < c + n; ++at) {
        const Index next = f.above(d, at);
        f.flux[d][at] =
            area / 2 * density(at, next) *
            (f.free[d][at] + f.free[d][next] - (f.response[d][at] + f.response[d][next]) * (f.pressure[next] - f.pressure[at]) / spacing);
      }
    });
  }

  // How a flux follows a correction of the pressure across its face.
  template <class Density>
  static auto pressure_conductance(const auto& f, Density density, std::size_t d, NumberOf<decltype(f)> area, NumberOf<decltype(f)> spacing,
                                   NumberOf<decltype(f)> relax, Index at) {
    const Index next = f.above(d, at);
    return relax / 2 * area / spacing * density(at, next) * (f.response[d][at] + f.response[d][next]);
  }

  // The equation of the pressure correction: it turns fluxes so that as much leaves a cell as enters it.
  static void correction_row(const auto& f, const Vector& areas, const Vector& spacings, NumberOf<decltype(f)> relax, Index c, Index n) {
    using Real = NumberOf<decltype(f)>;
    with_density(f, [=, &f, area = rounded<Real>(areas), spacing = rounded<Real>(spacings)](auto density) {
      FL_INDEPENDENT
      for (Index at = c; at < c + n; ++at) {
        Real diagonal = 0, left = 0;
        for (std::size_t d = 0; d < 3; ++d) {
          const Index lower = f.below(d, at);
          const Real below = pressure_conductance(f, density, d, area[d], spacing[d], relax, lower),
                     above = pressure_conductance(f, density, d, area[d], spacing[d], relax, at);
          f.a[lower_place(d)][at] = -below;
          f.a[upper_place(d)][at] = -above;
          diagonal += below + above;
          left += f.flux[d][lower] - f.flux[d][at];
        }
        f.a[P][at] = diagonal;
        f.b[at] = left;
        f.correction[at] = 0;
      }
    });
  }

  static double sum_row(const auto& f, Index c, Index n) {
    double sum = 0;
    for (Index at = c; at < c + n; ++at) sum += std::fabs(f.b[at]);
    return sum;
  }

  // Fluxes along d follow the correction.
  static void corrected_flux_row(const auto& f, std::size_t d, NumberOf<decltype(f)> area, NumberOf<decltype(f)> spacing,
                                 NumberOf<decltype(f)> relax, Index c, Index n) {
    with_density(f, [=, &f](auto density) {
      FL_INDEPENDENT
      for (Index at = c; at < c + n; ++at)
        f.flux[d][at] -= pressure_conductance(f, density, d, area, spacing, relax, at) * (f.correction[f.above(d, at)] - f.correction[at]);
    });
  }

  // And velocities do.
  static void corrected_row(const auto& f, const Vector& spacing, NumberOf<decltype(f)> relax, Index c, Index n) {
    for (std::size_t d = 0; d < 3; ++d) {
      const auto twice = static_cast<NumberOf<decltype(f)>>(2 * spacing[d]);
      FL_INDEPENDENT
      for (Index at = c; at < c + n; ++at)
        f.velocity[d][at] -= relax * f.response[d][at] * (f.correction[f.above(d, at)] - f.correction[f.below(d, at)]) / twice;
    }
  }
};

}  // namespace cfd
