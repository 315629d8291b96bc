// What holds in the cells and at the faces of the replayed run: what is beyond the sides, density and eddies, walls, strain.
#pragma once

#include <optional>

#include "../solvers.hpp"
#include "inputs.hpp"

namespace cfd {

class ReplayedGas {
 public:
  std::array<Field, 3> velocity;
  std::array<Field, scalars> scalar;

 protected:
  explicit ReplayedGas(const State& s) : params_(s.params), cells_(s.block.domain.extents), box_(s.box), speed_(s.speed) {
    for (Field& field : velocity) field = zeros(cells_);
    each_scalar(params_, [&](std::size_t q) { scalar[q] = zeros(cells_); });
  }

  // Between two cells, or next to one.
  struct Face {
    Point low, high;
    Index side = 0;  // -1: of the box, and `high` is beside it; 1: `low` is
    const Point& beside() const { return side < 0 ? high : low; }
  };
  grid::Box<3> whole() const { return {{}, cells_}; }
  template <class Visit>
  void each_face(std::size_t d, Visit visit) const {
    grid::Box<3> faces = whole();
    --faces.lower[d];
    grid::each_cell(faces, [&](const Point& low) {
      Point high = low;
      ++high[d];
      visit(Face{low, high, low[d] < 0 ? -1 : high[d] == cells_[d] ? 1 : 0});
    });
  }
  Boundary beyond(std::size_t d, const Face& at) const { return boundary(params_, box_, cells_, at.beside(), d, at.side); }
  double viscosity() const { return speed_ / params_.reynolds; }

  // The density of a cell, or of what enters: a kg of each kind of gas by its mass of a mol, all at one pressure.
  double density(double of_fuel, double of_mixture, double of_enthalpy) const {
    if (!params_.reacting()) return 1;
    const double air = air_oxygen / 3.99, from_fuel = (of_mixture + air) / (1 + air), oxygen = 3.99 * (of_fuel - of_mixture);
    const double nitrogen = 0.768 * (1 - from_fuel), burnt = 1 - of_fuel - oxygen - nitrogen;
    const double temperature = of_enthalpy - params_.heat * of_fuel;
    return 1 / (temperature * 28.85 * (of_fuel / 16.04 + oxygen / 32 + nitrogen / 28.01 + burnt / 26.68));
  }
  double density(const Point& x) const {
    return params_.reacting() ? density(scalar[fuel][x], scalar[mixture][x], scalar[enthalpy][x]) : 1;
  }
  double density_at(std::size_t d, const Face& at) const {
    if (at.side == 0) return 0.5 * (density(at.low) + density(at.high));
    const Boundary beyond = this->beyond(d, at);
    if (beyond.edge == Edge::outlet) return density(at.beside());
    return beyond.edge == Edge::inlet ? density(beyond.scalar[fuel], beyond.scalar[mixture], beyond.scalar[enthalpy]) : 1;
  }
  double eddies(const Point& x) const {
    return params_.carries() ? density(x) * 0.09 * scalar[turbulence][x] * scalar[turbulence][x] / scalar[dissipation][x] : 0;
  }
  double eddies_at(std::size_t d, const Face& at) const {
    if (!params_.carries()) return 0;
    if (at.side == 0) return 0.5 * (eddies(at.low) + eddies(at.high));
    const Boundary beyond = this->beyond(d, at);
    if (beyond.edge == Edge::wall) return drag(at.beside(), d) - viscosity();
    if (beyond.edge != Edge::inlet) return eddies(at.beside());
    const double k = beyond.scalar[turbulence] * std::pow(speed_, 2), epsilon = beyond.scalar[dissipation] * std::pow(speed_, 3);
    return density_at(d, at) * 0.09 * k * k / epsilon;
  }
  // Near a wall (B. E. Launder, D. B. Spalding): viscosity over which the wall slows the velocity of the cell at x, half a cell away across d.
  double drag(const Point& x, std::size_t d) const {
    const double from = friction_speed(x) * density(x) * box_.spacing[d] / 2 / viscosity();
    return from > 11.53 ? viscosity() * 0.41 * from / std::log(9.8 * from) : viscosity();
  }
  double friction_speed(const Point& x) const { return std::pow(0.09, 0.25) * std::sqrt(scalar[turbulence][x]); }
  // The mean over the walls of a cell of value(d, boundary), none where it has no wall.
  template <class Value>
  std::optional<double> mean_over_walls(const Point& x, Value value) const {
    double sum = 0, walls = 0;
    for (std::size_t d = 0; d < 3; ++d)
      for (const Index step : {-1, 1}) {
        if (x[d] + step >= 0 && x[d] + step < cells_[d]) continue;
        const Boundary beyond = boundary(params_, box_, cells_, x, d, step);
        if (beyond.edge == Edge::wall) sum += value(d, beyond), ++walls;
      }
    return walls > 0 ? std::optional(sum / walls) : std::nullopt;
  }
  std::optional<double> wall_dissipation(const Point& x) const {
    return mean_over_walls(x,
                           [&](std::size_t d, const Boundary&) { return std::pow(friction_speed(x), 3) / (0.41 * box_.spacing[d] / 2); });
  }
  std::optional<double> wall_production(const Point& x) const {
    return mean_over_walls(x, [&](std::size_t d, const Boundary& wall) {
      double square = 0;
      for (std::size_t c = 0; c < 3; ++c)
        if (c != d) square += std::pow(velocity[c][x] - speed_ * wall.velocity[c], 2);
      const double away = box_.spacing[d] / 2;
      return drag(x, d) * std::sqrt(square) / away * friction_speed(x) / (0.41 * away);
    });
  }

  // Whether velocity c is given at a side.
  static bool is_given(const Boundary& beyond, std::size_t c, std::size_t d) {
    return beyond.edge == Edge::wall || beyond.edge == Edge::inlet || (beyond.edge == Edge::slip && c == d);
  }

  // Velocity c on the side of a cell; step -1 below, 1 above.
  double velocity_at(std::size_t c, std::size_t d, const Point& x, Index step) const {
    Point next = x;
    next[d] += step;
    if (next[d] >= 0 && next[d] < cells_[d]) return 0.5 * (velocity[c][x] + velocity[c][next]);
    const Boundary beyond = boundary(params_, box_, cells_, x, d, step);
    return is_given(beyond, c, d) ? speed_ * beyond.velocity[c] : velocity[c][x];
  }
  // The sum over both indices of (du_c/dx_d + du_d/dx_c)^2 / 2.
  double strain(const Point& x) const {
    double slope[3][3], sum = 0;
    for (std::size_t c = 0; c < 3; ++c)
      for (std::size_t d = 0; d < 3; ++d) slope[c][d] = (velocity_at(c, d, x, 1) - velocity_at(c, d, x, -1)) / box_.spacing[d];
    for (std::size_t c = 0; c < 3; ++c)
      for (std::size_t d = 0; d < 3; ++d) sum += std::pow(slope[c][d] + slope[d][c], 2) / 2;
    return sum;
  }

  Params params_;
  Point cells_;
  Geometry box_;
  double speed_;
};

}  // namespace cfd
