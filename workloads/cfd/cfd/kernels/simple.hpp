// The run, for all variants: SIMPLE (S. V. Patankar, D. B. Spalding, Int. J. Heat Mass Transfer 15 (1972) 1787) on collocated cells.
// Variants differ in who works on the rows of a block and how halos travel (`Machine`, ../alone.hpp), and in how a solver computes a row
// (`Body`, ../plain_rows.hpp). `Flow` is what the equations make of a row and of a side.
#pragma once

#include <variant>

#include "../multigrid_solver.hpp"
#include "../narrow.hpp"
#include "cfd.hpp"
#include "sides.hpp"

#include "firstlight/variant.hpp"

namespace cfd {

struct MomentumMarks {
  static constexpr fl::Phase factor = phases("momentum_solver"), sweep = factor, halo = phases("halo"), sum = phases("sum");
};
struct ScalarMarks {
  static constexpr fl::Phase factor = phases("scalar_solver"), sweep = factor, halo = phases("halo"), sum = phases("sum");
};
struct PressureMarks {
  static constexpr fl::Phase factor = phases("pressure_solver"), sweep = factor, halo = phases("halo"), sum = phases("sum");
};

template <class From, class To>
void convert_flow(const FlowOf<From>& from, FlowOf<To>& to, const Params& p) {
  for (std::size_t d = 0; d < 3; ++d) convert(from.velocity[d], to.velocity[d]), convert(from.flux[d], to.flux[d]);
  convert(from.pressure, to.pressure);
  each_scalar(p, [&](std::size_t q) { convert(from.scalar[q], to.scalar[q]); });
}

// `Factor`: of Stone's factors and corrections; `Real`: of all else. Where that is not what inputs are of the flow is a copy.
template <class Machine, class Body, bool colours_together = false, class Flow = FlowSides, class Factor = double, class Real = double>
class Simple {
 public:
  void open(State& s) {
    const auto zero = [&](auto&... fields) { ((fields = zeros<Real>(s.block.size())), ...); };
    for (auto& a : system_.a) zero(a);
    zero(system_.b, correction_);
    for (std::size_t d = 0; d < 3; ++d) zero(response_[d], free_[d]);
    if (s.params.carries()) zero(eddy_, production_);
    if (s.params.reacting()) zero(density_);
    if constexpr (copies) open_copy(s);
    FlowOf<Real>& flow = mine(s);
    auto& q = flow.scalar;
    if (s.params.reacting())
      scalars_.open(s.block, s.team.threads, q[turbulence], q[dissipation], q[fuel], q[mixture], q[enthalpy]);
    else if (s.params.carries())
      scalars_.open(s.block, s.team.threads, q[turbulence], q[dissipation]);
    velocities_.open(s.block, s.team.threads, flow.velocity[0], flow.velocity[1], flow.velocity[2]);
    faces_.open(s.block, s.team.threads, response_[0], response_[1], response_[2], free_[0], free_[1], free_[2]);
    momentum_.open(s.block, s.team.threads, correction_);
    if (s.params.carries()) scalar_solver_.open(s.block, s.team.threads, correction_);
    stone_.open(s.block, s.team.threads, correction_);
    if (s.params.pressure == Method::iccg) conjugate_.open(s.block, s.team.threads, correction_);
    if (s.params.pressure == Method::mgcg) multigrid_.open(s.block, s.team.threads, system_, Flow::shape(s));
    red_black_.open(s.block, s.team.threads, correction_);
  }

  void step(State& s, Index) {
    const auto f = arrays(s);
    while (s.outcome.goes_on(s.params, iterate(s, f))) {
    }
  }
  void close(State& s) { s.upload = s.download = {}; }

 protected:
  // Whether cells find the next ones by number, in the equations as in their solvers.
  static constexpr bool numbered = requires(const Body& body) { body.numbers(W); };
  using Addressed = std::conditional_t<numbered, NumberedArrays, ArraysOf<Real>>;

  static constexpr bool copies = !std::is_same_v<Real, double>;
  FlowOf<Real>& mine(State& s) {
    if constexpr (copies)
      return copy_;
    else
      return s;
  }
  void open_copy(State& s) {
    each_field(copy_, s.params, [&](FieldOf<Real>& field) { field = FieldOf<Real>(s.block.size(), {1, 1, 1}); });
    s.upload = [this, &s] { convert_flow(s, copy_, s.params); };
    s.download = [this, &s] { convert_flow(copy_, s, s.params); };
  }

  Left iterate(State& s, const Addressed& f) {
    Left left;
    fl::during(phases("halo"), [&] { velocities_.exchange(); });
    fl::during(phases("momentum"), [&] { ghosts(s, f); });
    if (s.params.carries()) carried(s, f, left);
    for (std::size_t d = 0; d < 3; ++d)
      if (moves(s, d)) left.momentum[d] = momentum(s, f, d);
    fl::during(phases("halo"), [&] { faces_.exchange(); });
    left.mass = correction(s, f);
    correct(s, f);
    return total(s, left);
  }

  // In a slice nothing moves across.
  static bool moves(const State& s, std::size_t d) { return s.block.domain.extents[d] > 1; }

  void ghosts(State& s, const Addressed& f) {
    for (const Rim& rim : s.rims) {
      for (std::size_t d = 0; d < 3; ++d) Flow::velocity_ghosts(rim, f, d, s.speed);
      Flow::pressure_ghosts(rim, f, f.pressure, !moves(s, rim.d));
    }
  }

  // Scalars, by fluxes, density and eddies of the iteration before; the momentum goes by the same density and eddies.
  void carried(State& s, const Addressed& f, Left& left) {
    fl::during(phases("halo"), [&] { scalars_.exchange(); });
    fl::during(phases("scalars"), [&] { left.voids = properties(s, f); });
    for (std::size_t q = 0; q < scalars; ++q)
      if (s.params.solves(q)) left.scalar[q] = scalar(s, f, q);
  }

  // How many of the block's cells have no positive density.
  double properties(State& s, const Addressed& f) {
    const double heat = s.params.heat;
    each_scalar(s.params, [&](std::size_t q) {
      for (const Rim& rim : s.rims) Flow::scalar_ghosts(rim, f, q, scales(s.speed)[q]);
    });
    const double voids = sum_of_rows(s, f, [&](Index c, Index n) { return Flow::property_row(f, heat, c, n); });
    for (std::size_t d = 0; d < 3; ++d)
      for (const Index step : {-1, 1}) {
        if (!s.block.has_neighbour(d, step)) continue;
        Point offset{};
        offset[d] = step;
        grid::each_cell(grid::receive_box<3>(s.block.size(), {1, 1, 1}, offset),
                        [&](const Point& x) { Flow::property(f, heat, f.at(x[0], x[1]) + x[2]); });
      }
    for (const Rim& rim : s.rims) Flow::property_ghosts(rim, f, s.speed, heat, wall(s, rim));
    if (!s.params.turbulent()) return voids;
    each_row(s, f, [&](Index c, Index n) { Flow::production_row(f, s.box.spacing, c, n); });
    for (const Rim& rim : s.rims) Flow::no_production(rim, f);
    for (const Rim& rim : s.rims) Flow::wall_production(rim, f, s.speed, wall(s, rim));
    return voids;
  }

  static Wall wall(const State& s, const Rim& rim) { return {s.viscosity(), s.box.spacing[rim.d] / 2}; }

  double scalar(State& s, const Addressed& f, std::size_t q) {
    double left = 0;
    fl::during(phases("scalars"), [&] {
      const Diffusion by = diffusion(s, 1 / prandtl[q]);
      each_row(s, f, [&](Index c, Index n) { Flow::transport_row(f, f.scalar[q], by, s.params.central, c, n); });
      for (const Rim& rim : s.rims) Flow::transport_side(rim, f, f.scalar[q], scalars_given, s.params.central);
      each_row(s, f, [&](Index c, Index n) { Flow::scalar_row(f, q, s.box.volume, s.params.relax, c, n); });
      if (q == dissipation) {
        for (const Rim& rim : s.rims) Flow::dissipation_alone(rim, f, s.params.relax);
        for (const Rim& rim : s.rims) Flow::wall_dissipation(rim, f, s.params.relax, wall(s, rim));
      }
      left = sum_of_rows(s, f, [&](Index c, Index n) { return Flow::sum_row(f, c, n); });
    });
    fl::during(phases("scalar_solver"), [&] {
      Sweeps rule{s.params.sweeps};
      scalar_solver_.solve(system_, correction_, rule);
    });
    fl::during(phases("scalars"), [&] { each_row(s, f, [&](Index c, Index n) { Flow::corrected_scalar_row(f, q, c, n); }); });
    return left;
  }

  static Diffusion diffusion(const State& s, double share) {
    return {.shape = s.box.coupling(), .viscosity = s.viscosity(), .share = share};
  }

  double momentum(State& s, const Addressed& f, std::size_t d) {
    double left = 0;
    fl::during(phases("momentum"), [&] {
      const Diffusion by = diffusion(s, 1);
      each_row(s, f, [&](Index c, Index n) { Flow::transport_row(f, f.velocity[d], by, s.params.central, c, n); });
      for (const Rim& rim : s.rims) {
        const auto is_given = [&](const Boundary& at) { return given(at, rim, d); };
        Flow::transport_side(rim, f, f.velocity[d], is_given, s.params.central);
      }
      left = sum_of_rows(s, f,
                         [&](Index c, Index n) { return Flow::momentum_row(f, d, s.box.volume, s.box.spacing[d], s.params.relax, c, n); });
    });
    fl::during(phases("momentum_solver"), [&] {
      Sweeps rule{s.params.sweeps};
      momentum_.solve(system_, correction_, rule);
    });
    fl::during(phases("momentum"), [&] { each_row(s, f, [&](Index c, Index n) { Flow::free_row(f, d, s.box.spacing[d], c, n); }); });
    return left;
  }

  double correction(State& s, const Addressed& f) {
    const Geometry& box = s.box;
    double left = 0;
    fl::during(phases("pressure"), [&] {
      for (const Rim& rim : s.rims) Flow::response_ghosts(rim, f);
      each_face_row(s, f, [&](std::size_t d, Index c, Index n) { Flow::flux_row(f, d, box.area[d], box.spacing[d], c, n); });
      for (const Rim& rim : s.rims) Flow::side_fluxes(rim, f, box.area[rim.d], s.speed, s.params.heat);
      each_row(s, f, [&](Index c, Index n) { Flow::correction_row(f, box.area, box.spacing, s.params.relax, c, n); });
      for (const Rim& rim : s.rims) Flow::correction_side(rim, f);
      left = sum_of_rows(s, f, [&](Index c, Index n) { return Flow::sum_row(f, c, n); });
    });
    const fl::In in(phases("pressure_solver"));
    Sweeps rule{s.params.pressure_sweeps, s.params.pressure_share()};
    if (s.params.pressure == Method::sip)
      stone_.solve(system_, correction_, s.params.alpha, rule);
    else if (s.params.pressure == Method::iccg)
      conjugate_.solve(system_, correction_, rule);
    else if (s.params.pressure == Method::mgcg)
      multigrid_.solve(system_, correction_, rule);
    else
      red_black_.solve(system_, correction_, rule);
    stone_.exchange();
    return left;
  }

  void correct(State& s, const Addressed& f) {
    const fl::In in(phases("pressure"));
    const Geometry& box = s.box;
    const double relax = s.params.relax;
    for (const Rim& rim : s.rims) Flow::pressure_ghosts(rim, f, f.correction, !moves(s, rim.d));
    each_face_row(s, f, [&](std::size_t d, Index c, Index n) { Flow::corrected_flux_row(f, d, box.area[d], box.spacing[d], relax, c, n); });
    for (const Rim& rim : s.rims) Flow::side_fluxes(rim, f, box.area[rim.d], s.speed, s.params.heat);
    each_row(s, f, [&](Index c, Index n) { Flow::corrected_row(f, box.spacing, relax, c, n); });
    const auto take = [&, share = static_cast<Real>(s.params.relax_pressure)](Index at) { f.pressure[at] += share * f.correction[at]; };
    each_row(s, f, [&](Index c, Index n) {
      for (Index at = c; at < c + n; ++at) take(at);
    });
    // Halos hold what the neighbour's cells do.
    for (std::size_t d = 0; d < 3; ++d)
      for (const Index step : {-1, 1}) {
        Point offset{};
        offset[d] = step;
        grid::each_cell(grid::receive_box<3>(s.block.size(), {1, 1, 1}, offset), [&](const Point& x) { take(f.at(x[0], x[1]) + x[2]); });
      }
  }

  // Returns the residuals of all ranks, as shares of what flows by.
  Left total(const State& s, const Left& mine) {
    const fl::In in(phases("sum"));
    Left all = mine;
    const auto add = [&](double& first, double& second) {
      const Sums sums = velocities_.total({first, second});
      first = sums.first, second = sums.second;
    };
    add(all.momentum[0], all.momentum[1]);
    add(all.momentum[2], all.mass);
    if (s.params.carries()) add(all.scalar[turbulence], all.scalar[dissipation]);
    if (s.params.reacting()) {
      add(all.scalar[fuel], all.scalar[mixture]);
      add(all.scalar[enthalpy], all.voids);
    }
    return all.share_of(s.box.inflow_area() * s.speed, s.speed, reference(s.params));
  }

  template <class Row>
  void each_row(const State& s, const Addressed& f, Row row) {
    velocities_.each(s.block.size(), [&](Index k, Index j) { return row(f.at(k, j), s.block.size()[2]), Sums{}; });
  }
  // Returns the sum of what row(c, n) returns.
  template <class Row>
  double sum_of_rows(const State& s, const Addressed& f, Row row) {
    return velocities_.each(s.block.size(), [&](Index k, Index j) { return Sums{row(f.at(k, j), s.block.size()[2])}; }).first;
  }
  // row(d, c, n) for all faces of the block: the upper ones of its cells, and those on its lower sides.
  template <class Row>
  void each_face_row(const State& s, const Addressed& f, Row row) {
    const Point size = s.block.size();
    velocities_.each(size, [&](Index k, Index j) {
      const Index c = f.at(k, j), n = size[2];
      if (k == 0) row(0, c - f.stride[0], n);
      row(0, c, n);
      if (j == 0) row(1, c - f.stride[1], n);
      row(1, c, n);
      row(2, c - 1, n + 1);
      return Sums{};
    });
  }

  Addressed arrays(State& s) {
    Addressed f;
    if constexpr (numbered)
      for (std::size_t place = W; place <= T; ++place) f.neighbour[place] = momentum_.body.numbers(place);
    for (std::size_t place = P; place <= T; ++place) f.a[place] = origin(system_.a[place]);
    FlowOf<Real>& flow = mine(s);
    f.b = origin(system_.b), f.correction = origin(correction_), f.pressure = origin(flow.pressure);
    for (std::size_t d = 0; d < 3; ++d) {
      f.velocity[d] = origin(flow.velocity[d]), f.flux[d] = origin(flow.flux[d]);
      f.response[d] = origin(response_[d]), f.free[d] = origin(free_[d]);
      f.stride[d] = flow.pressure.layout().stride[d];
    }
    each_scalar(s.params, [&](std::size_t q) { f.scalar[q] = origin(flow.scalar[q]); });
    if (s.params.carries()) f.eddy = origin(eddy_), f.production = origin(production_);
    if (s.params.reacting()) f.density = origin(density_);
    return f;
  }

  Machine velocities_, faces_, scalars_;  // whose halos they exchange
  std::conditional_t<copies, FlowOf<Real>, std::monostate> copy_;
  SystemOf<Real> system_;
  FieldOf<Real> correction_;
  std::array<FieldOf<Real>, 3> response_, free_;
  FieldOf<Real> eddy_, production_, density_;  // where scalars are carried; the density, where it changes
  RedBlack<ScalarMarks, Machine, Body, colours_together, Real> scalar_solver_;
  RedBlack<MomentumMarks, Machine, Body, colours_together, Real> momentum_;
  Stone<PressureMarks, Machine, Body, Factor, Real> stone_;
  ConjugateGradients<PressureMarks, Machine, Body, true, Real> conjugate_;
  Multigrid<PressureMarks, Machine, Body, true, Real> multigrid_;
  RedBlack<PressureMarks, Machine, Body, colours_together, Real> red_black_;
};

// Runs in 64 bits, or in 32 where a run requests them.
template <class Machine, class Body, bool colours_together = false, class Flow = FlowSides>
using InEither = Either<Simple<Machine, Body, colours_together, Flow>, Simple<Machine, Body, colours_together, Flow, float, float>>;

}  // namespace cfd
