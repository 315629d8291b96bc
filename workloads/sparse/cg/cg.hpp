// cg: A x = b with a sparse, symmetric, positive definite A by conjugate gradients whose sums hide behind work, or are fewer (R4: "more work is
// not more time"). One step is one solution from x = 0 to the tolerance. Rows are cut into contiguous parts, one a process.
//
// b = g (A 1 + changes): g is a factor that changes with the step, changes are at places that no step can know.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "../matrices.hpp"
#include "../row_sum.hpp"
#include "firstlight/error_summary.hpp"
#include "firstlight/input_mutator.hpp"
#include "firstlight/phase.hpp"
#include "firstlight/split.hpp"
#include "firstlight/workload.hpp"

namespace cg {

enum class Method { classic, gropp, pipelined, replaced, s_step };  // in the order of their names below
enum class Preconditioner { jacobi, ssor };

struct Params {
  Method method = Method::classic;
  Preconditioner preconditioner = Preconditioner::jacobi;
  fl::Document matrix{"laplace2d", ""};
  fl::Index m = 100, digits = 6, iterations = 0, replace = 50, s = 4;
  void declare(fl::Fields& fields) {
    fields.choice("method", method, "classic|gropp|pipelined|replaced|s_step",
                  "blocking sums; sums overlapped with products (Gropp); one sum overlapped with all work (Ghysels "
                  "and Vanroose); the same with recomputed residuals; one sum per s iterations");
    fields.choice("preconditioner", preconditioner, "jacobi|ssor",
                  "the diagonal, or a symmetric sweep over each process's or thread's own block");
    fields.file("matrix", matrix, std::string(sparse::formulas).c_str(),
                "symmetric positive definite matrix: a formula, or a Matrix Market file");
    if (matrix.text.empty())  // a file has its own size
      fields.integer("m", m, "points", 1, 4096, "points along each dimension of a formula's grid, at most 2^24 in total");
    fields.integer("digits", digits, "digits", 1, 12, "stop when the residual is this number of powers of ten smaller than b");
    fields.integer("iterations", iterations, "iterations", 0, 100000,
                   "fixed number of iterations, which shows residual drift (fewer if the recurrence's residual vanishes); 0: "
                   "until the tolerance is reached");
    fields.integer("replace", replace, "iterations", 1, 100000, "interval at which method=replaced recomputes residuals");
    fields.integer("s", s, "iterations", 1, 8, "iterations per sum of method=s_step");
  }
};

// As a share of |b|: smaller residuals are only rounding, and those of small systems soon underflow.
inline constexpr double vanished = 1e-20;

inline double reduction(const Params& p) { return p.iterations > 0 ? vanished : std::pow(10.0, -static_cast<double>(p.digits)); }

struct Outcome {
  fl::Index iterations = 0;  // updates of x
  double residual = 0;       // |r| / |b| as the recurrence computes it
};

// A solution; in it A x, and what is waited for of sums over all parties.
inline constexpr fl::Phases phases{"iterations", "products", "sums"};

struct State {
  fl::Team team;
  Params p;
  sparse::Matrix matrix;
  fl::Part own;               // rows of this process
  fl::Array<double> b;        // own, for g = 1
  fl::Array<double> x;        // own
  double g = 1, norm = 1;     // norm: |A 1|
  fl::Index blocks = 1;       // of the preconditioner, in all
  fl::InputMutator changing;  // elements of the whole b
  Outcome outcome;
  // Methods that hide sums set these in several processes: the share of a sum's time that is hidden behind products alone, and behind
  // products with their exchanges. -1 means not measured.
  double hidden = -1, hidden_by_exchange = -1;
  int wrong_sums = 0;  // of those
};

inline constexpr fl::About about{
    .title = "Conjugate gradients",
    .cost = "Bytes per iteration: the matrix in row format, and the vectors that the method reads and writes",
    .verified =
        "|b - A x|, from the formula or file of the matrix, in sums with error bounds. Up to 2^17 rows also the number of iterations "
        "of plain conjugate gradients.",
    .tolerance =
        "1.01 times the requested reduction, and iterations within 1 + 2 %; for a given number of iterations twice the residual of "
        "the reference. For rounding 8 eps per iteration are added, 2^20 times that for methods whose residuals drift.",
    .phases = phases,
};

inline constexpr fl::Metric metrics[] = {
    {"time_to_solution", "s", "operations", "time", 1, "lower"},
    {"time_per_iteration", "us", "time_per_iteration", "value", 1e6, "lower"},
    {"iterations", "iterations", "iterations", "value", 1, "lower"},
    {"residual", "1", "residual", "value", 1, "lower"},
    {"true_residual", "1", "true_residual", "value", 1, "lower"},
    {"bandwidth", "GB/s", "bytes_per_second", "value", 1e-9, "higher"},
};

inline std::string refuse(const Params& p, const fl::Team&) {
  if (p.matrix.text.empty() && p.matrix.name != "laplace2d" && p.m > 256) return "cg needs m=256 or less in space: 2^24 rows at most";
  sparse::Matrix a;
  if (std::string wrong = sparse::read(p.matrix, p.m, a); !wrong.empty()) return wrong;
  const bool file = a.pattern() == sparse::Pattern::file;
  if (!a.symmetric()) return "cg needs a symmetric matrix";
  if (!file && a.pattern() != sparse::Pattern::hpcg && a.pattern() < sparse::Pattern::laplace2d)
    return "cg needs a positive definite matrix: hpcg, laplace2d, laplace3d or a file";
  if (p.method == Method::s_step) {
    if (a.rows() < 100)
      return fl::text("the method s_step of cg needs 100 rows: powers soon span a smaller system; the matrix has %lld", a.rows());
    const fl::Index most = std::min<fl::Index>(10, 12 - p.s);
    if (p.iterations == 0 && p.digits > most)
      return fl::text("the method s_step of cg loses the residual to rounding: use digits=%lld or fewer with s=%lld", most, p.s);
  }
  for (fl::Index i = 0; file && i < a.rows(); ++i) {
    double diagonal = 0;
    a.row(i, [&](fl::Index c, double v) { diagonal += c == i ? v : 0; });
    if (!(diagonal > 0)) return fl::text("cg needs a positive definite matrix: the diagonal is %.4g in row %lld", diagonal, i + 1);
  }
  return "";
}

inline double entries(const sparse::Matrix& a, fl::Part rows) {
  double count = 0;
  for (fl::Index i = rows.begin; i < rows.end; ++i) count += static_cast<double>(a.length(i));
  return count;
}

// Returns the bytes of an iteration on so many rows, without what a preconditioner reads beyond the diagonal.
inline double bytes(const Params& p, double entries, double rows) {
  const double product = 12 * entries + 20 * rows, precondition = 24 * rows, basis = static_cast<double>(2 * p.s + 1);
  switch (p.method) {
    case Method::classic:  // sums of p q, of r z and r r; x, r and p
      return product + precondition + (16 + 16 + 48 + 24) * rows;
    case Method::gropp:  // sums of p s, of r z and r r; x, r, z, then p and s
      return product + precondition + (16 + 16 + 72 + 48) * rows;
    case Method::pipelined:
    case Method::replaced:  // sums of r u, w u and r r; eight vectors
      return product + precondition + (24 + 144) * rows;
    case Method::s_step:  // products of a basis; sums of all pairs; x and what the basis begins with
      return ((basis - 2) * (product + precondition) + (16 * basis + 16 * basis + 40) * rows) / static_cast<double>(p.s);
  }
  return 0;
}

inline fl::Cost cost(const Params& p, const fl::Team& team) {
  sparse::Matrix a;
  if (!sparse::read(p.matrix, p.m, a).empty()) return {};
  const auto rows = static_cast<double>(a.rows());
  return {.operations = 1, .working_set = bytes(p, entries(a, {0, a.rows()}), rows) / team.ranks};
}

inline double row_sum(const sparse::Matrix& a, fl::Index i) {
  sparse::RowSum sum;
  a.row(i, [&](fl::Index, double v) { sum.add(v, 1); });
  return sum.value();
}

inline constexpr fl::Index places = 8;  // of b that change

// An element of b that changed last in this iteration, or never (-1): by twice the tolerance at most, so that iterations stay
// about the same, and a solution that ignores it is wrong.
inline double element(const State& s, fl::Index i, fl::Index iteration) {
  const double change =
      iteration < 0 ? 0
                    : 0.75 + 0.25 * fl::uniform(static_cast<std::uint64_t>(i) * 0x100000001b3ull + static_cast<std::uint64_t>(iteration));
  return row_sum(s.matrix, i) + 2 * std::pow(10.0, -static_cast<double>(s.p.digits)) * s.norm * change;
}

inline void init(State& s, const Params& p, const fl::Team& team) {
  s.p = p;
  s.team = team;
  if (const std::string wrong = sparse::read(p.matrix, p.m, s.matrix); !wrong.empty()) fl::abort_all(wrong);
  s.own = fl::part(s.matrix.rows(), team.ranks, team.rank);
  s.blocks = fl::Index{1} * team.ranks * team.threads;
  s.b = fl::Array<double>(s.own.size());
  s.x = fl::Array<double>(s.own.size());
  s.changing = fl::InputMutator(s.matrix.rows(), places, true);
  double squares = 0;
  for (fl::Index i = 0; i < s.matrix.rows(); ++i) {
    const double sum = row_sum(s.matrix, i);
    squares += sum * sum;
    if (i >= s.own.begin && i < s.own.end) s.b[i - s.own.begin] = sum;
  }
  s.norm = std::sqrt(squares);
}

inline void mutate_inputs(State& s, fl::Index iteration) {
  s.g = fl::step_factor(iteration);
  s.changing.mutate_inputs(iteration, [&](fl::Index i) {
    if (i >= s.own.begin && i < s.own.end) s.b[i - s.own.begin] = element(s, i, iteration);
  });
}
inline fl::Index mutate_between_batches(State& s, fl::Index next) {
  return s.changing.mutate_between_batches(next, [&](fl::Index iteration) { mutate_inputs(s, iteration); });
}

inline void poison(State& s) {
  fl::poison(s.x.data(), s.x.size());
  s.outcome = {};
}

// The whole x on every process. Collective.
inline std::vector<double> gathered(const State& s) {
  std::vector<double> all(static_cast<std::size_t>(s.matrix.rows()));
  for (fl::Index i = s.own.begin; i < s.own.end; ++i) all[static_cast<std::size_t>(i)] = s.x[i - s.own.begin];
  fl::add_up(all.data(), static_cast<int>(all.size()));
  return all;
}

// |b - A x| / |b|; b(i) is an element for g = 1. Collective.
template <class B>
double true_residual(const State& s, B b) {
  const std::vector<double> x = gathered(s);
  double rest = 0, source = 0;
  for (fl::Index i = s.own.begin; i < s.own.end; ++i) {
    const double wanted = s.g * b(i);
    sparse::RowSum row;
    row.add(-1, wanted);
    s.matrix.row(i, [&](fl::Index c, double v) { row.add(v, x[static_cast<std::size_t>(c)]); });
    rest += row.value() * row.value();
    source += wanted * wanted;
  }
  return std::sqrt(fl::total(rest) / fl::total(source));
}

inline void observe(State& s, fl::Observations& seen) {
  const auto iterations = static_cast<double>(s.outcome.iterations), parties = static_cast<double>(s.blocks);
  const double seconds = seen.seconds(phases("iterations")) + seen.seconds(phases("products")) + seen.seconds(phases("sums"));
  const double moved = bytes(s.p, fl::total(entries(s.matrix, s.own)), static_cast<double>(s.matrix.rows())) * iterations / parties;
  seen.value("iterations", iterations);
  seen.value("residual", s.outcome.residual);
  seen.value("true_residual", true_residual(s, [&](fl::Index i) { return s.b[i - s.own.begin]; }));
  seen.value("time_per_iteration", iterations > 0 ? seconds / iterations : 0);
  seen.value("bytes_per_second", seconds > 0 ? moved / seconds : 0);
  if (s.hidden < 0) return;
  seen.value("hidden", s.hidden);
  seen.value("hidden_by_exchange", s.hidden_by_exchange);
}

}  // namespace cg

#ifdef FL_JUDGE
#include "judge.hpp"
#endif
