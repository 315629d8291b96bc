// What stands beyond the sides of the box. A cell there holds a ghost: a value such that the mean of it and of the cell beside it, and their
// difference, are what holds at the side.
#pragma once

#include "rows.hpp"

namespace cfd::inline FL_ROLE {

// visit(element, outwards, boundary) for each cell beside the side; `outwards`: elements from it to its ghost.
template <class Visit>
void each_beside(const Rim& rim, const Arrays& f, Visit visit) {
  const Index outwards = rim.step * f.stride[rim.d];
  const Boundary* next = rim.boundaries.data();
  grid::each_cell(rim.cells, [&](const Point& x) { visit(f.at(x[0], x[1]) + x[2], outwards, *next++); });
}

// Whether velocity d is given there; else it does not change across.
inline bool given(const Boundary& at, const Rim& rim, std::size_t d) {
  return at.edge == Edge::fixed || (at.edge == Edge::slip && rim.d == d);
}

struct FlowSides : FlowRows {
  static void velocity_ghosts(const Rim& rim, const Arrays& f, std::size_t d, double speed) {
    each_beside(rim, f, [&](Index c, Index outwards, const Boundary& at) {
      double* u = f.velocity[d] + c;
      u[outwards] = given(at, rim, d) ? 2 * speed * at.velocity[d] - u[0] : u[0];
    });
  }

  // The pressure, or its correction, at an outlet is 0. Elsewhere it goes on in a straight line; `alone`: there is no other cell to draw it from.
  static void pressure_ghosts(const Rim& rim, const Arrays& f, double* pressure, bool alone) {
    each_beside(rim, f, [&](Index c, Index outwards, const Boundary& at) {
      double* p = pressure + c;
      p[outwards] = at.edge == Edge::outlet ? -p[0] : alone ? p[0] : 2 * p[0] - p[-outwards];
    });
  }

  // What follows the pressure at an outlet does so as in the cell beside it.
  static void response_ghosts(const Rim& rim, const Arrays& f) {
    each_beside(rim, f, [&](Index c, Index outwards, const Boundary&) {
      f.response[rim.d][c + outwards] = f.response[rim.d][c];
      f.free[rim.d][c + outwards] = f.free[rim.d][c];
    });
  }

  // Fluxes that are given.
  static void side_fluxes(const Rim& rim, const Arrays& f, double area, double speed) {
    each_beside(rim, f, [&](Index c, Index, const Boundary& at) {
      if (at.edge == Edge::outlet) return;
      f.flux[rim.d][rim.step > 0 ? c : c - f.stride[rim.d]] = area * speed * at.velocity[rim.d];
    });
  }

  // The ghost's coefficient goes to the diagonal: it is less what the cell is where a value is given, the same where it does not change.
  static void fold(const Arrays& f, std::size_t place, Index c, bool is_given) {
    f.a[P][c] += is_given ? -f.a[place][c] : f.a[place][c];
    f.a[place][c] = 0;
  }

  // What enters is what is given at the side, and nothing upwind of it.
  static void transport_side(const Rim& rim, const Arrays& f, const double* q, std::size_t d, double central) {
    const std::size_t place = rim.step > 0 ? upper_place(rim.d) : lower_place(rim.d);
    each_beside(rim, f, [&](Index c, Index outwards, const Boundary& at) {
      const bool is_given = given(at, rim, d);
      const double in = rim.step > 0 ? -f.flux[rim.d][c] : f.flux[rim.d][c - f.stride[rim.d]];
      if (is_given) f.b[c] -= (1 - central) * (q[c + outwards] - q[c]) * (std::max(in, 0.0) - 0.5 * in);
      fold(f, place, c, is_given);
    });
  }

  static void correction_side(const Rim& rim, const Arrays& f) {
    const std::size_t place = rim.step > 0 ? upper_place(rim.d) : lower_place(rim.d);
    each_beside(rim, f, [&](Index c, Index, const Boundary& at) { fold(f, place, c, at.edge == Edge::outlet); });
  }
};

}  // namespace cfd::inline FL_ROLE
