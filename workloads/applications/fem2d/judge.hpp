// What a solution must be. Compiled with the harness's own flags; everything about the operator comes from element matrices.
#pragma once

#include "elements.hpp"
#include "firstlight/error_summary.hpp"

namespace fem2d {

inline constexpr fl::Index elements_up_to = 7;  // level to which residuals are computed element by element
inline constexpr fl::Index errors_up_to = 5;    // level to which errors are integrated

inline bool is_v_cycle(const State& s) { return s.traits.another_preconditioner && !s.traits.library; }

// Problem R: the solution is g y at every node. How many times 10^-digits its error is depends on the digits, and at most doubles with a
// level: 21 at level 7, 43 at level 8, with a V-cycle 5.
inline void compare_with_y(const State& s, const Block& b, fl::WorstError& wrong) {
  const double times = std::ldexp(is_v_cycle(s) ? 10 : 30, static_cast<int>(std::max<fl::Index>(s.level - 7, 0)));
  const double allowed = times * std::pow(10.0, -static_cast<double>(s.digits)) + 1e-13;
  const auto rows = static_cast<double>(cells(s.level + 1));
  for (fl::Index j = 0; j <= b.x.ny; ++j) {
    const double y = static_cast<double>(b.j0 + j) / rows;
    double worst = 0;
    fl::Index where = 0;
    for (fl::Index i = 0; i <= b.x.nx; ++i) {
      const double error = std::abs(b.x.at(i, j) / s.g - y);
      if (!(error <= worst)) worst = error, where = i;
    }
    if (wrong.exceeded_by(worst, allowed))
      wrong.consider(worst, allowed,
                     fl::text("node (%lld, %lld) of %lld is %.9g, should be %.9g", b.i0 + where, b.j0 + j, static_cast<fl::Index>(rows),
                              b.x.at(where, j) / s.g, y));
  }
}

// r must be f - A x, of this block's elements, at every node that is free.
inline void compare_residual(const State& s, const Block& b, const Grid* load, fl::WorstError& wrong) {
  Grid residual(b.x.nx, b.x.ny);
  residual.clear();
  const Place place(b, s.level);
  each_element(b.x, [&](const Element& e) {
    const Matrix6 matrix = stiffness(Shape(place.corners(e)));
    for (std::size_t a = 0; a < 6; ++a) {
      double sum = 0;
      for (std::size_t k = 0; k < 6; ++k) sum += matrix[a][k] * b.x.at(e[k].i, e[k].j);
      residual.at(e[a].i, e[a].j) -= sum;
    }
  });
  for (fl::Index j = b.bottom ? 1 : 0; j <= b.x.ny - (b.top ? 1 : 0); ++j)
    for (fl::Index i = 0; i <= b.x.nx; ++i) {
      const double wanted = residual.at(i, j) + (load != nullptr ? s.g * load->at(i, j) : 0);
      const double error = std::abs(b.r.at(i, j) - wanted) / s.g;
      if (wrong.exceeded_by(error, 1e-10))
        wrong.consider(error, 1e-10,
                       fl::text("the residual at node (%lld, %lld) is %.9g, but element matrices yield %.9g", b.i0 + i, b.j0 + j,
                                b.r.at(i, j) / s.g, wanted / s.g));
    }
}

struct Errors {
  double l2 = 0, h1 = 0, energy = 0;
};

inline Errors errors_of(const State& s, const Block& b) {
  Errors found;
  const Place place(b, s.level);
  each_element(b.x, [&](const Element& e) {
    const auto corners = place.corners(e);
    const Shape shape(corners);
    each_point(shape.area, [&](const std::array<double, 3>& l, double w) {
      const Point p = at(corners, l), exact = Manufactured::gradient(p);
      const auto values = Shape::values(l);
      const auto gradients = shape.gradients(l);
      double u = 0;
      Point du{0, 0};
      for (std::size_t a = 0; a < 6; ++a) {
        const double x = b.x.at(e[a].i, e[a].j) / s.g;
        u += x * values[a];
        du = {du.x + x * gradients[a].x, du.y + x * gradients[a].y};
      }
      found.l2 += w * std::pow(u - Manufactured::u(p), 2);
      found.h1 += w * (std::pow(du.x - exact.x, 2) + std::pow(du.y - exact.y, 2));
      found.energy += w * (du.x * du.x + du.y * du.y);
    });
  });
  return found;
}

// Problem M, solved to round-off: the errors are those of the discretisation. Of a solution to fewer digits only the first is requested,
// and it may be off by what the solver left. Collective.
inline void compare_errors(const State& s, fl::WorstError& wrong) {
  constexpr double l2[] = {5.5071e-4, 6.8729e-5, 8.5922e-6, 1.0745e-6}, h1[] = {3.3135e-2, 8.3863e-3, 2.1054e-3, 5.2716e-4};
  Errors mine;
  for (const Block& b : s.blocks) {
    const Errors part = errors_of(s, b);
    mine = {mine.l2 + part.l2, mine.h1 + part.h1, mine.energy + part.energy};
  }
  const Errors all{std::sqrt(fl::total(mine.l2)), std::sqrt(fl::total(mine.h1)), fl::total(mine.energy)};
  const bool listed = s.level < 4;
  const fl::Index beyond = listed ? 0 : s.level - 3;  // orders 3 and 2 from there on
  const double wanted_l2 = l2[listed ? s.level : 3] / std::pow(8.0, beyond), wanted_h1 = h1[listed ? s.level : 3] / std::pow(4.0, beyond);
  const double allowed = listed ? 2e-4 : 1e-2;
  const double left = s.digits >= 11 ? 0 : 30 * std::pow(10.0, -static_cast<double>(s.digits));
  wrong.consider(std::abs(all.l2 - wanted_l2), allowed * wanted_l2 + left,
                 fl::text("the L2 error is %.5e, should be %.5e", all.l2, wanted_l2));
  if (s.digits < 11) return;
  wrong.consider(std::abs(all.h1 / wanted_h1 - 1), allowed, fl::text("the H1 error is %.5e, should be %.5e", all.h1, wanted_h1));
  if (s.level == 5)
    wrong.consider(std::abs(all.energy / 5.934802199453 - 1), 1e-9, fl::text("x^T A x is %.12f, should be 5.934802199453", all.energy));
}

// How the iteration went. Both problems take the same numbers of updates, except for one case of each method that is at the threshold.
inline void compare_course(const State& s, fl::WorstError& wrong) {
  const Outcome& o = s.outcome;
  const bool listed = s.level <= courses_up_to && s.digits >= 6 && s.digits % 2 == 0, rounded = s.traits.coarse_in_32_bits;
  const auto count = [&](fl::Index wanted, double slack) {
    wrong.consider(static_cast<double>(std::abs(o.iterations - wanted)), slack + 0.5,
                   fl::text("%lld iterations, but the reference needs %lld", o.iterations, wanted));
  };
  if (s.level <= courses_up_to) {
    const Course& course = (is_v_cycle(s) ? course_of_v_cycle : course_of_bpx)[s.level];
    if (listed) count(course.iterations[(s.digits - 6) / 2], rounded || (s.manufactured && s.digits == 10) ? 1 : 0);
    for (std::size_t k = 0; !s.manufactured && k < std::size(looked_at); ++k) {
      if (o.iterations < looked_at[k]) continue;
      const double found = o.rho[k] / (s.g * s.g);
      wrong.consider(std::abs(found / course.rho[k] - 1), rounded ? 1e-5 : 1e-7,
                     fl::text("r^T C^-1 r after %lld updates is %.9g, should be %.9g", looked_at[k], found, course.rho[k]));
    }
  } else if (!is_v_cycle(s) && s.digits == 6) {
    count(reference_iterations[s.level], 1);
  }
}

inline fl::Check check(State& s, fl::Index) {
  fl::WorstError wrong;
  if (!s.traits.library) compare_course(s, wrong);
  for (std::size_t k = 0; k < s.blocks.size(); ++k) {
    if (!s.manufactured) compare_with_y(s, s.blocks[k], wrong);
    if (s.level <= elements_up_to && !s.traits.library) compare_residual(s, s.blocks[k], s.manufactured ? &s.load[k] : nullptr, wrong);
  }
  if (s.manufactured && (s.traits.library || (s.digits >= 11 && s.level <= errors_up_to))) compare_errors(s, wrong);
  const std::string sound = fl::text("%lld iterations, as expected", s.outcome.iterations);
  return fl::Check::of(wrong.share(), 1, wrong.what().empty() ? sound : wrong.what());
}

inline void observe(State& s, fl::Observations& seen) {
  const Outcome& o = s.outcome;
  const double work = unknowns(s.level) * static_cast<double>(o.iterations);
  const double communication = seen.seconds(phases("communication")), solve = seen.seconds(phases("solve")) + communication;
  seen.value("iterations", static_cast<double>(o.iterations));
  seen.value("time_per_unknown_iteration", work > 0 ? solve / work : 0);
  seen.value("assembly", seen.seconds(phases("assembly")) + o.assembled);
  if (!s.traits.library) seen.value("communication_share", solve > 0 ? communication / solve : 0);
}

}  // namespace fem2d
