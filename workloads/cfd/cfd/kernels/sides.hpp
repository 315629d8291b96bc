// What is beyond the sides of the box. A cell there contains a ghost: a value such that the mean of it and of the cell beside it, and their
// difference, have the values at the side.
#pragma once

#include "scalar_rows.hpp"

namespace cfd {

// visit(element, outwards, boundary) for each cell next to the side; `outwards`: elements from it to its ghost.
template <class Visit>
void each_beside(const Rim& rim, const auto& f, Visit visit) {
  const Index outwards = rim.step * f.stride[rim.d];
  const Boundary* next = rim.boundaries.data();
  grid::each_cell(rim.cells, [&](const Point& x) { visit(f.at(x[0], x[1]) + x[2], outwards, *next++); });
}

// Whether velocity d is given there; else it does not change across.
inline bool given(const Boundary& at, const Rim& rim, std::size_t d) {
  return at.edge == Edge::wall || at.edge == Edge::inlet || (at.edge == Edge::slip && rim.d == d);
}
inline bool scalars_given(const Boundary& at) { return at.edge == Edge::inlet; }

struct FlowSides : ScalarRows {
  static void velocity_ghosts(const Rim& rim, const auto& f, std::size_t d, double speed) {
    each_beside(rim, f, [&](Index c, Index outwards, const Boundary& at) {
      auto* u = f.velocity[d] + c;
      u[outwards] = given(at, rim, d) ? 2 * speed * at.velocity[d] - u[0] : u[0];
    });
  }

  // The pressure, or its correction, at an outlet is 0. Elsewhere it goes on in a straight line; `alone`: there is no other cell to draw it from.
  static void pressure_ghosts(const Rim& rim, const auto& f, auto* pressure, bool alone) {
    each_beside(rim, f, [&](Index c, Index outwards, const Boundary& at) {
      auto* p = pressure + c;
      p[outwards] = at.edge == Edge::outlet ? -p[0] : alone ? p[0] : 2 * p[0] - p[-outwards];
    });
  }

  // For multigrid: a correction of the pressure is 0 at outlets.
  static Shape shape(const State& s) {
    Shape shape{.coupling = s.box.coupling()};
    for (std::size_t d = 0; d < 3; ++d)
      for (const Index step : {-1, 1}) {
        const bool outlet = boundary(s.params, s.box, s.block.domain.extents, {}, d, step).edge == Edge::outlet;
        shape.mirror[d][step > 0 ? 1 : 0] = outlet ? -1 : 1;
      }
    return shape;
  }

  // What follows the pressure at an outlet does so as in the adjacent cell.
  static void response_ghosts(const Rim& rim, const auto& f) {
    each_beside(rim, f, [&](Index c, Index outwards, const Boundary&) {
      f.response[rim.d][c + outwards] = f.response[rim.d][c];
      f.free[rim.d][c + outwards] = f.free[rim.d][c];
    });
  }

  // Sets the ghost cells of a scalar. `scale` multiplies the given values.
  static void scalar_ghosts(const Rim& rim, const auto& f, std::size_t q, double scale) {
    each_beside(rim, f, [&](Index c, Index outwards, const Boundary& at) {
      auto* x = f.scalar[q] + c;
      x[outwards] = scalars_given(at) ? 2 * scale * at.scalar[q] - x[0] : at.edge == Edge::outlet ? 2 * x[0] - x[-outwards] : x[0];
    });
  }
  // At an inlet the eddies' viscosity is that of what enters, at a wall such that its drag is right. A density is needed at outlets alone, where it
  // is that of the last cell.
  static void property_ghosts(const Rim& rim, const auto& f, double speed, double heat, const Wall& wall) {
    const Scalars scale = scales(speed);
    each_beside(rim, f, [&](Index c, Index outwards, const Boundary& at) {
      double enters = f.eddy[c];
      if (at.edge == Edge::inlet)
        enters = eddy_viscosity(side_density(at, f, heat), scale[turbulence] * at.scalar[turbulence],
                                scale[dissipation] * at.scalar[dissipation]);
      if (at.edge == Edge::wall) enters = wall.drag(f.scalar[turbulence][c], density(f, c)) - wall.viscosity;
      f.eddy[c + outwards] = 2 * enters - f.eddy[c];
      if (f.density != nullptr) f.density[c + outwards] = f.density[c];
    });
  }
  static double side_density(const Boundary& at, const auto& f, double heat) {
    return f.density == nullptr ? 1 : density_of(at.scalar[fuel], at.scalar[mixture], at.scalar[enthalpy], heat);
  }

  // Next to walls the production of k follows from their drag, and epsilon is given: each wall of a cell has its share.
  static void no_production(const Rim& rim, const auto& f) {
    each_beside(rim, f, [&](Index c, Index, const Boundary& at) {
      if (at.edge == Edge::wall) f.production[c] = 0;
    });
  }
  static void wall_production(const Rim& rim, const auto& f, double speed, const Wall& wall) {
    each_beside(rim, f, [&](Index c, Index, const Boundary& at) {
      if (at.edge != Edge::wall) return;
      double square = 0;
      for (std::size_t d = 0; d < 3; ++d)
        if (d != rim.d) square += (f.velocity[d][c] - speed * at.velocity[d]) * (f.velocity[d][c] - speed * at.velocity[d]);
      const double k = f.scalar[turbulence][c], steep = std::sqrt(square) / wall.distance;
      f.production[c] += at.wall_share * wall.drag(k, density(f, c)) * steep * friction_speed(k) / (karman * wall.distance);
    });
  }
  static void dissipation_alone(const Rim& rim, const auto& f, double relax) {
    each_beside(rim, f, [&](Index c, Index, const Boundary& at) {
      if (at.edge != Edge::wall) return;
      for (std::size_t place = W; place <= T; ++place) f.a[place][c] = 0;
      f.b[c] = -relax * f.a[P][c] * f.scalar[dissipation][c];
    });
  }
  static void wall_dissipation(const Rim& rim, const auto& f, double relax, const Wall& wall) {
    each_beside(rim, f, [&](Index c, Index, const Boundary& at) {
      if (at.edge == Edge::wall) f.b[c] += relax * f.a[P][c] * at.wall_share * wall.dissipation(f.scalar[turbulence][c]);
    });
  }

  // Fluxes that are given.
  static void side_fluxes(const Rim& rim, const auto& f, double area, double speed, double heat) {
    each_beside(rim, f, [&](Index c, Index, const Boundary& at) {
      if (at.edge == Edge::outlet) return;
      const double density = at.edge == Edge::inlet ? side_density(at, f, heat) : 1;  // nothing flows through others
      f.flux[rim.d][rim.step > 0 ? c : c - f.stride[rim.d]] = area * speed * density * at.velocity[rim.d];
    });
  }

  // The ghost's coefficient goes to the diagonal: it is less what the cell is where a value is given, the same where it does not change.
  static void fold(const auto& f, std::size_t place, Index c, bool is_given) {
    f.a[P][c] += is_given ? -f.a[place][c] : f.a[place][c];
    f.a[place][c] = 0;
  }

  // What enters is what is given at the side, and nothing upwind of it.
  template <class Given>
  static void transport_side(const Rim& rim, const auto& f, const auto* q, Given given, double central) {
    const std::size_t place = rim.step > 0 ? upper_place(rim.d) : lower_place(rim.d);
    each_beside(rim, f, [&](Index c, Index outwards, const Boundary& at) {
      const bool is_given = given(at);
      const double in = rim.step > 0 ? -f.flux[rim.d][c] : f.flux[rim.d][c - f.stride[rim.d]];
      if (is_given) f.b[c] -= (1 - central) * (q[c + outwards] - q[c]) * (std::max(in, 0.0) - 0.5 * in);
      fold(f, place, c, is_given);
    });
  }

  static void correction_side(const Rim& rim, const auto& f) {
    const std::size_t place = rim.step > 0 ? upper_place(rim.d) : lower_place(rim.d);
    each_beside(rim, f, [&](Index c, Index, const Boundary& at) { fold(f, place, c, at.edge == Edge::outlet); });
  }
};

}  // namespace cfd
