// What an iteration does to a row of cells. `c` is the element of a row's first cell, `n` the number of its cells. Each cell reads the fluxes
// of its six faces and writes only what is its own, so rows are computed in any order.
#pragma once

#include "firstlight/simd.hpp"
#include "state.hpp"

namespace cfd::inline FL_ROLE {

// The place of the neighbour on the lower and on the upper side along d.
inline constexpr std::size_t lower_place(std::size_t d) { return 5 - 2 * d; }
inline constexpr std::size_t upper_place(std::size_t d) { return 6 - 2 * d; }

// Addresses of cell (0, 0, 0) of the block, and the elements from a cell to the next along each dimension.
struct Arrays {
  std::array<double*, 7> a{};
  double *b = nullptr, *correction = nullptr, *pressure = nullptr;
  std::array<double*, 3> velocity{}, flux{};
  std::array<double*, 3> response{};  // volume over the diagonal of a velocity's equation: how it follows the gradient of the pressure
  std::array<double*, 3> free{};      // a velocity without its gradient of the pressure
  std::array<double*, scalars> scalar{};
  double *density = nullptr, *eddy = nullptr, *production = nullptr;  // eddy: the viscosity; where there is none, the density is 1
  std::array<Index, 3> stride{};

  Index at(Index k, Index j) const { return k * stride[0] + j * stride[1]; }
  // The next cell on the lower and on the upper side along d.
  Index below(std::size_t d, Index at) const { return at - stride[d]; }
  Index above(std::size_t d, Index at) const { return at + stride[d]; }
};
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

// Of faces between a cell and the next one.
struct SameViscosity {
  double viscosity;
  double operator()(Index, Index) const { return viscosity; }
};
struct EddyViscosity {
  double viscosity, share;
  const double* eddy;
  double operator()(Index at, Index next) const { return viscosity + 0.5 * share * (eddy[at] + eddy[next]); }
};
struct SameDensity {
  double operator()(Index, Index) const { return 1; }
};
struct MeanDensity {
  const double* density;
  double operator()(Index at, Index next) const { return 0.5 * (density[at] + density[next]); }
};
// work(density of faces)
template <class Work>
void with_density(const Arrays& f, Work work) {
  f.density != nullptr ? work(MeanDensity{f.density}) : work(SameDensity{});
}

struct FlowRows {
  // Of a transported quantity q: the upwind matrix, and what is left of its equation where faces carry `central` of the mean of the cells beside
  // them, the rest upwind. The matrix is that of a correction: where nothing is left nothing of it matters.
  static void transport_row(const auto& f, const double* q, const Diffusion& by, double central, Index c, Index n) {
    if (f.eddy != nullptr)
      transport(f, q, by.shape, EddyViscosity{by.viscosity, by.share, f.eddy}, central, c, n);
    else
      transport(f, q, by.shape, SameViscosity{by.viscosity}, central, c, n);
  }
  template <class Viscosity>
  static void transport(const auto& f, const double* q, const Vector& shape, Viscosity viscosity, double central, Index c, Index n) {
    FL_INDEPENDENT
    for (Index at = c; at < c + n; ++at) {
      double diagonal = 0, left = 0;
      for (std::size_t d = 0; d < 3; ++d) {
        const Index lower = f.below(d, at), upper = f.above(d, at);
        const double below = f.flux[d][lower], above = -f.flux[d][at];
        const double g_below = shape[d] * viscosity(lower, at), g_above = shape[d] * viscosity(at, upper);
        const double from_below = g_below + std::max(below, 0.0), from_above = g_above + std::max(above, 0.0);
        f.a[lower_place(d)][at] = -from_below;
        f.a[upper_place(d)][at] = -from_above;
        diagonal += from_below + from_above;
        left += (q[lower] - q[at]) * (central * (g_below + 0.5 * below) + (1 - central) * from_below) +
                (q[upper] - q[at]) * (central * (g_above + 0.5 * above) + (1 - central) * from_above);
      }
      f.a[P][at] = diagonal;
      f.b[at] = left;
    }
  }

  // The rest of a velocity's equation: the pressure, how the velocity follows it, and relaxation. Returns the sum of what is left.
  static double momentum_row(const auto& f, std::size_t d, double volume, double spacing, double relax, Index c, Index n) {
    const double half = 0.5 * volume / spacing;
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

  // A velocity takes its correction; what it would be without its gradient of the pressure.
  static void free_row(const auto& f, std::size_t d, double spacing, Index c, Index n) {
    FL_INDEPENDENT
    for (Index at = c; at < c + n; ++at) {
      const double u = f.velocity[d][at] + f.correction[at];
      f.velocity[d][at] = u;
      f.free[d][at] = u + f.response[d][at] * (f.pressure[f.above(d, at)] - f.pressure[f.below(d, at)]) / (2 * spacing);
    }
  }

  // What flows through faces along d, by the pressures beside each and not those of every second cell: C. M. Rhie, W. L. Chow, AIAA J. 21
  // (1983) 1525. Here with the response that is not relaxed, so that the flow in the end knows of no relaxation.
  static void flux_row(const auto& f, std::size_t d, double area, double spacing, Index c, Index n) {
    with_density(f, [=, &f](auto density) {
      FL_INDEPENDENT
      for (Index at = c; at < c + n; ++at) {
        const Index next = f.above(d, at);
        f.flux[d][at] =
            0.5 * area * density(at, next) *
            (f.free[d][at] + f.free[d][next] - (f.response[d][at] + f.response[d][next]) * (f.pressure[next] - f.pressure[at]) / spacing);
      }
    });
  }

  // How a flux follows a correction of the pressure across its face.
  template <class Density>
  static double pressure_conductance(const auto& f, Density density, std::size_t d, double area, double spacing, double relax, Index at) {
    const Index next = f.above(d, at);
    return 0.5 * relax * area / spacing * density(at, next) * (f.response[d][at] + f.response[d][next]);
  }

  // The equation of the pressure correction: it turns fluxes so that as much leaves a cell as enters it.
  static void correction_row(const auto& f, const Vector& area, const Vector& spacing, double relax, Index c, Index n) {
    with_density(f, [=, &f](auto density) {
      FL_INDEPENDENT
      for (Index at = c; at < c + n; ++at) {
        double diagonal = 0, left = 0;
        for (std::size_t d = 0; d < 3; ++d) {
          const Index lower = f.below(d, at);
          const double below = pressure_conductance(f, density, d, area[d], spacing[d], relax, lower),
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
  static void corrected_flux_row(const auto& f, std::size_t d, double area, double spacing, double relax, Index c, Index n) {
    with_density(f, [=, &f](auto density) {
      FL_INDEPENDENT
      for (Index at = c; at < c + n; ++at)
        f.flux[d][at] -= pressure_conductance(f, density, d, area, spacing, relax, at) * (f.correction[f.above(d, at)] - f.correction[at]);
    });
  }

  // And velocities do.
  static void corrected_row(const auto& f, const Vector& spacing, double relax, Index c, Index n) {
    for (std::size_t d = 0; d < 3; ++d) {
      FL_INDEPENDENT
      for (Index at = c; at < c + n; ++at)
        f.velocity[d][at] -= relax * f.response[d][at] * (f.correction[f.above(d, at)] - f.correction[f.below(d, at)]) / (2 * spacing[d]);
    }
  }
};

}  // namespace cfd::inline FL_ROLE
