// Whether a run is possible, what it begins with, and what it must leave. Compiled with the harness's own flags.
#pragma once

#include <cfloat>
#include <cmath>

#include "himeno.hpp"
#include "inputs.hpp"
#include "reference.hpp"

namespace himeno {

inline std::string refuse(const Params& p, const fl::Team& team) {
  if (const std::string why = grid::refuse(p.domain(), team.ranks); !why.empty()) return why;
  constexpr double a_point = 14 * sizeof(float) + 2 * sizeof(double);  // the check's two fields
  return fl::lacks_memory(a_point * points_in(p) / team.nodes);
}

inline void init(State& s, const Params& p, const fl::Team& team) {
  s.params = p;
  s.team = team;
  s.block = grid::Block<3>(p.domain(), team.ranks, team.rank);
  for (Field* field : {&s.p, &s.next}) *field = Field(s.block.size(), p.domain().halo);
  each_coefficient(s, [&](Field& field, Coefficient) { field = Field(s.block.size(), {}); });
  s.changing = fl::InputMutator(static_cast<Index>(points_in(p)), fl::InputMutator::most, true);
  fl::first_touch(&s);
  each_coefficient(s, [&](Field& field, Coefficient which) { fill(s, field, which); });
}

inline void reset(State& s) {
  s.changing.mutate_inputs(s.upcoming, [&](Index number) { put_source(s, number, source(number, s.upcoming)); });
  restore(s, factor(s.upcoming));
}
inline Index mutate_between_batches(State& s, Index next) {
  s.upcoming = s.changing.mutate_between_batches(next, [&](Index iteration) {
    s.changing.mutate_inputs(iteration, [&](Index number) { put_source(s, number, source(number, iteration)); });
  });
  return s.upcoming;
}
inline void poison(State& s) {
  fl::poison(&s.gosa, 1);
  fl::poison(s.p.data(), s.p.layout().elements);
}

// Once a case, and outside of its time: a run from the benchmark's own inputs, and the last one again.
inline void observe(State& s, fl::Observations& seen) {
  Gosa& gosa = s.unchanged;
  if (!gosa.known) {
    const Index last = s.upcoming - 1;
    const fl::ChangeLog ages(s.changing, last);
    const auto run = [&](float scale, bool changed) {
      for (const auto& [number, iteration] : ages.all())
        put_source(s, number, changed ? source(number, iteration) : value(s.params.problem, Coefficient::wrk1, number));
      restore(s, scale);
      fl::run_steps(last, 1);
      return s.gosa;
    };
    gosa.found = run(1, false);
    run(factor(last), true);
    gosa.single = static_cast<float>(fl::total(Replay<float>(s, {}, 1).gosa()));
    gosa.exact = s.params.problem == Problem::official ? by_symmetry(s.params.domain().extents, s.params.sweeps)
                                                       : fl::total(Replay<double>(s, {}, 1).gosa());
    gosa.known = true;
  }
  seen.value("gosa", gosa.found);
  seen.value("gosa_exact", gosa.exact);
  seen.value("gosa_official", gosa.single);
}

inline fl::Check check(State& s, Index last) {
  if (s.download) s.download();
  const float scale = factor(last);
  const Replay<double> right(s, fl::ChangeLog(s.changing, last), scale);
  // What rounding makes of ss, of numbers as large as `scale`; and by the inequality of Cauchy and Schwarz of the sum of their squares.
  const double rounding = 2 * FLT_EPSILON, points = points_in(s.params);
  const auto allowed = [&](double gosa, double size) {
    return 2 * rounding * size * std::sqrt(points * gosa) + points * rounding * rounding * size * size;
  };
  fl::WorstError worst;
  const double of_p = 1.5 * FLT_EPSILON * scale * (1 + std::sqrt(static_cast<double>(s.params.sweeps)));
  grid::each_cell(s.block.cells(), [&](const Point& x) {
    const double wanted = right.p(s.block.global(x)), error = std::fabs(s.p[x] - wanted);
    if (worst.exceeded_by(error, of_p)) {
      const Point at = grid::plus<3>(s.block.global(x), {1, 1, 1});
      worst.consider(error, of_p, [&] {
        return fl::text("p at (%lld, %lld, %lld) is %.9g, should be %.9g", at[0], at[1], at[2], static_cast<double>(s.p[x]), wanted);
      });
    }
  });
  const auto compare = [&](const char* of, double found, double exact, double size) {
    worst.consider(std::fabs(found - exact), allowed(exact, size),
                   [&] { return fl::text("GOSA of %s is %.9g, should be %.9g", of, found, exact); });
  };
  compare("the last run", s.gosa, fl::total(right.gosa()), scale);
  if (s.unchanged.known) compare("the benchmark's inputs", s.unchanged.found, s.unchanged.exact, 1);
  return worst.check(fl::text("all %lld points of this rank are right", s.block.cells().cells()));
}

}  // namespace himeno
