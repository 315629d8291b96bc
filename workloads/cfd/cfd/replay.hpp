// What a run has to leave: the same equations, added up face by face on the whole grid, with the conditions at the sides written out and no ghosts.
#pragma once

#include <cfloat>

#include "replay_solvers.hpp"

namespace cfd {

class Replay : public ReplayedSolvers {
 public:
  explicit Replay(const State& s) : ReplayedSolvers(s) {
    pressure = zeros(cells_);
    for (auto* fields : {&flux, &response_, &free_, &eddies_, &density_at_})
      for (Field& field : *fields) field = zeros(cells_);
    for (Field& field : density_at_) std::fill_n(field.data(), field.layout().elements, 1.0);
    if (params_.carries())
      for (Field* field : {&density_, &strain_}) *field = zeros(cells_);
    grid::each_cell(whole(), [&](const Point& x) {
      const std::uint64_t number = s.block.number(x);
      pressure[x] = start_pressure(number, speed_);
      each_scalar(params_, [&](std::size_t q) { scalar[q][x] = start_scalar(params_, number, q, speed_); });
      for (std::size_t d = 0; d < 3; ++d) velocity[d][x] = start_velocity(s, x, d);
    });
    for (std::size_t d = 0; d < 3; ++d) each_face(d, [&](const Face& at) { flux[d][at.low] = start_flux(s, at.low, d); });
  }

  // As a run of so many iterations goes.
  const Outcome& run() {
    while (outcome_.goes_on(params_, iterate())) {
    }
    return outcome_;
  }
  // What is left of the equations of velocities, pressure and fluxes as they are; as shares of what flows by.
  Left left() {
    Left found;
    found.voids = properties();
    for (std::size_t q = 0; q < scalars; ++q)
      if (params_.solves(q)) found.scalar[q] = transported(q);
    for (std::size_t d = 0; d < 3; ++d)
      if (cells_[d] > 1) found.momentum[d] = momentum(d);
    found.mass = balance();
    return share(found);
  }
  // How far fluxes are from those of the velocities and pressures, as a share of all that flows by. After left().
  double flux_error() {
    double sum = 0;
    for (std::size_t d = 0; d < 3; ++d) {
      for_free(d);
      each_face(d, [&](const Face& at) { sum += std::fabs(flux[d][at.low] - flux_of(d, at)); });
    }
    return sum / (speed_ * box_.inflow_area());
  }

  std::array<Field, 3> flux;  // by the cell below a face; -1 for the first
  Field pressure;

 private:
  // Returns the value at a face of a field that is 0 at outlets and goes on in a straight line elsewhere.
  double at_face(const Field& p, std::size_t d, const Face& at) const {
    if (at.side == 0) return 0.5 * (p[at.low] + p[at.high]);
    if (beyond(d, at).edge == Edge::outlet) return 0;
    const Point& x = at.beside();
    if (cells_[d] == 1) return p[x];
    Point inner = x;
    inner[d] -= at.side;
    return 1.5 * p[x] - 0.5 * p[inner];
  }

  // The matrix, and what is left of the equation of a transported u. At a side `value(d, beyond)` is given, or none is; what is not given goes on in a
  // straight line where it leaves, if `straight`, and does not change elsewhere. `share`: of the eddies' viscosity.
  template <class Value>
  void transport(const Field& u, double share, bool straight, Value value) {
    clear();
    for (std::size_t d = 0; d < 3; ++d)
      each_face(d, [&](const Face& at) {
        const double flow = flux[d][at.low], g = (viscosity() + share * eddies_[d][at.low]) * box_.area[d] / box_.spacing[d];
        if (at.side == 0) return between(u, d, at, flow, g);
        const Point& x = at.beside();
        const Boundary beyond = this->beyond(d, at);
        const double in = at.side < 0 ? flow : -flow;
        if (const std::optional<double> there = value(d, beyond)) {
          system_.a[P][x] += 2 * (g + std::max(in, 0.0));
          system_.b[x] += (in + 2 * g) * (*there - u[x]);
        } else if (straight && beyond.edge == Edge::outlet) {
          Point inner = x;
          inner[d] -= at.side;
          const double steep = u[x] - u[inner], upwind = in > 0 ? steep : 0;
          system_.b[x] += g * steep + in * (params_.central * 0.5 * steep + (1 - params_.central) * upwind);
        }
      });
  }
  void between(const Field& u, std::size_t d, const Face& at, double flow, double g) {
    auto& a = system_.a;
    Field& b = system_.b;
    const double up = g + std::max(flow, 0.0), down = g + std::max(-flow, 0.0), steep = u[at.high] - u[at.low];
    a[5 - 2 * d][at.high] -= up, a[P][at.high] += up;
    a[6 - 2 * d][at.low] -= down, a[P][at.low] += down;
    const double carried = params_.central * 0.5 * (u[at.low] + u[at.high]) + (1 - params_.central) * u[flow > 0 ? at.low : at.high];
    b[at.high] += flow * (carried - u[at.high]) - g * steep;
    b[at.low] -= flow * (carried - u[at.low]) - g * steep;
  }

  // What is left of the equation of velocity c.
  double momentum(std::size_t c) {
    transport(velocity[c], 1, false, [&](std::size_t d, const Boundary& beyond) {
      return is_given(beyond, c, d) ? std::optional(speed_ * beyond.velocity[c]) : std::nullopt;
    });
    auto& a = system_.a;
    Field& b = system_.b;
    each_face(c, [&](const Face& at) {
      const double push = box_.area[c] * at_face(pressure, c, at);
      if (at.side >= 0) b[at.low] -= push;
      if (at.side <= 0) b[at.high] += push;
    });
    grid::each_cell(whole(), [&](const Point& x) {
      response_[c][x] = box_.volume / a[P][x];
      a[P][x] /= params_.relax;
    });
    return sum_of(system_.b);
  }

  // And of a scalar's.
  double transported(std::size_t q) {
    const double share = q == dissipation ? 1 / 1.3 : q == turbulence ? 1 : 1 / 0.7;
    const double scale = q == turbulence ? std::pow(speed_, 2) : q == dissipation ? std::pow(speed_, 3) : 1;
    transport(scalar[q], share, true, [&](std::size_t, const Boundary& beyond) {
      return beyond.edge == Edge::inlet ? std::optional(scale * beyond.scalar[q]) : std::nullopt;
    });
    grid::each_cell(whole(), [&](const Point& x) {
      const double k = scalar[turbulence][x], epsilon = scalar[dissipation][x], mixed = density_[x] * epsilon / k;
      double& b = system_.b[x];
      double& a = system_.a[P][x];
      if (q == turbulence) {
        b += box_.volume * (strain_[x] - density_[x] * epsilon);
        a += box_.volume * mixed;
      } else if (q == dissipation) {
        b += box_.volume * epsilon / k * (1.44 * strain_[x] - 1.92 * density_[x] * epsilon);
        a += box_.volume * 1.92 * mixed;
      } else if (q == fuel) {
        const double of_fuel = scalar[fuel][x], oxygen = of_fuel - scalar[mixture][x];
        const double air = air_oxygen / 3.99, burnt = (scalar[mixture][x] + air) / (1 + air) - of_fuel;
        b -= box_.volume * 4 * mixed * std::max(std::min({of_fuel, oxygen, burnt / 2}), 0.0);
        a += box_.volume * 4 * mixed;
      }
      a /= params_.relax;
      if (q != dissipation) return;
      if (const std::optional<double> prescribed = wall_dissipation(x)) {
        for (std::size_t place = W; place <= T; ++place) system_.a[place][x] = 0;
        b = a * params_.relax * (*prescribed - epsilon);
      }
    });
    return sum_of(system_.b);
  }

  // What follows from scalars and velocities as they are at the beginning of an iteration; how many densities are not positive.
  double properties() {
    if (!params_.carries()) return 0;
    for (std::size_t d = 0; d < 3; ++d) each_face(d, [&](const Face& at) { eddies_[d][at.low] = eddies_at(d, at); });
    double voids = 0;
    grid::each_cell(whole(), [&](const Point& x) {
      density_[x] = density(x);
      if (!(density_[x] > 0)) ++voids;
    });
    for (std::size_t d = 0; d < 3; ++d) each_face(d, [&](const Face& at) { density_at_[d][at.low] = density_at(d, at); });
    grid::each_cell(whole(), [&](const Point& x) { strain_[x] = wall_production(x).value_or(eddies(x) * strain(x)); });
    return voids;
  }
  // The velocity along d without its gradient of the pressure.
  void for_free(std::size_t d) {
    grid::each_cell(whole(), [&](const Point& x) { free_[d][x] = velocity[d][x]; });
    each_face(d, [&](const Face& at) {
      const double value = at_face(pressure, d, at) / box_.spacing[d];
      if (at.side >= 0) free_[d][at.low] += response_[d][at.low] * value;
      if (at.side <= 0) free_[d][at.high] -= response_[d][at.high] * value;
    });
  }
  double flux_of(std::size_t d, const Face& at) const {
    if (at.side == 0)
      return density_at_[d][at.low] * box_.area[d] *
             (0.5 * (free_[d][at.low] + free_[d][at.high]) -
              0.5 * (response_[d][at.low] + response_[d][at.high]) * (pressure[at.high] - pressure[at.low]) / box_.spacing[d]);
    const Boundary beyond = this->beyond(d, at);
    if (beyond.edge != Edge::outlet) return density_at_[d][at.low] * box_.area[d] * speed_ * beyond.velocity[d];
    const Point& x = at.beside();
    const double outwards = -pressure[x] / (0.5 * box_.spacing[d]);
    return density_at_[d][at.low] * box_.area[d] * (free_[d][x] - response_[d][x] * static_cast<double>(at.side) * outwards);
  }
  double balance() {
    std::fill_n(system_.b.data(), system_.b.layout().elements, 0.0);
    for (std::size_t d = 0; d < 3; ++d)
      each_face(d, [&](const Face& at) {
        if (at.side >= 0) system_.b[at.low] -= flux[d][at.low];
        if (at.side <= 0) system_.b[at.high] += flux[d][at.low];
      });
    return sum_of(system_.b);
  }
  double conductance(std::size_t d, const Face& at) const {
    const double mean = at.side == 0 ? 0.5 * (response_[d][at.low] + response_[d][at.high]) : response_[d][at.beside()];
    return density_at_[d][at.low] * params_.relax * box_.area[d] / box_.spacing[d] * mean;
  }

  Left iterate() {
    Left found;
    found.voids = properties();
    for (std::size_t q = 0; q < scalars; ++q) {
      if (!params_.solves(q)) continue;
      found.scalar[q] = transported(q);
      relax(params_.sweeps);
      grid::each_cell(whole(), [&](const Point& x) {
        double& now = scalar[q][x];
        now = std::max(now + correction_[x], q == turbulence || q == dissipation ? now / 10 : -DBL_MAX);
      });
    }
    for (std::size_t d = 0; d < 3; ++d) {
      if (cells_[d] == 1) continue;
      found.momentum[d] = momentum(d);
      relax(params_.sweeps);
      grid::each_cell(whole(), [&](const Point& x) { velocity[d][x] += correction_[x]; });
      for_free(d);
    }
    for (std::size_t d = 0; d < 3; ++d) each_face(d, [&](const Face& at) { flux[d][at.low] = flux_of(d, at); });
    correction();
    found.mass = balance();
    balance_by(params_.pressure, params_.pressure_sweeps);
    correct();
    return share(found);
  }

  void correction() {
    clear();
    for (std::size_t d = 0; d < 3; ++d)
      each_face(d, [&](const Face& at) {
        const double g = conductance(d, at);
        if (at.side == 0) {
          system_.a[5 - 2 * d][at.high] = system_.a[6 - 2 * d][at.low] = -g;
          system_.a[P][at.high] += g, system_.a[P][at.low] += g;
        } else if (beyond(d, at).edge == Edge::outlet) {
          system_.a[P][at.beside()] += 2 * g;
        }
      });
  }
  void correct() {
    const Field& to = correction_;
    for (std::size_t d = 0; d < 3; ++d)
      each_face(d, [&](const Face& at) {
        if (at.side == 0)
          flux[d][at.low] -= conductance(d, at) * (to[at.high] - to[at.low]);
        else if (beyond(d, at).edge == Edge::outlet)
          flux[d][at.low] += conductance(d, at) * static_cast<double>(at.side) * 2 * to[at.beside()];
        const double value = params_.relax * at_face(to, d, at) / box_.spacing[d];
        if (at.side >= 0) velocity[d][at.low] -= response_[d][at.low] * value;
        if (at.side <= 0) velocity[d][at.high] += response_[d][at.high] * value;
      });
    grid::each_cell(whole(), [&](const Point& x) { pressure[x] += params_.relax_pressure * to[x]; });
  }

  Left share(const Left& of) const { return of.share_of(speed_ * box_.inflow_area(), speed_, reference(params_)); }

  std::array<Field, 3> response_, free_, eddies_, density_at_;  // the last two at faces
  Field density_, strain_;                                      // strain: what it makes of k
  Outcome outcome_;
};

}  // namespace cfd
