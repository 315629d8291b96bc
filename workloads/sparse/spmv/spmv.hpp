// spmv: y = s A x with a sparse matrix A in several formats (R4; HPCG's matrix; Guo and Gropp's streamed formats), 2 flops an entry.
// A format is a value of `kernel`. Rows are cut into contiguous parts, one a process; so are x and y.
#pragma once

#include <cfloat>
#include <cmath>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "../row_sum.hpp"
#include "firstlight/error_summary.hpp"
#include "firstlight/input_mutator.hpp"
#include "firstlight/split.hpp"
#include "firstlight/workload.hpp"
#include "stored.hpp"

namespace spmv {

struct Params {
  Kernel kernel = Kernel::csr;
  fl::Document matrix{"hpcg", ""};
  fl::Index m = 32;
  void declare(fl::Fields& fields) {
    fields.choice("kernel", kernel, kernels, "format of the matrix");
    fields.file("matrix", matrix, std::string(sparse::formulas).c_str(), "matrix: a formula, or a Matrix Market file");
    if (!matrix.text.empty()) return;  // a file has its own size
    fields.integer("m", m, "rows^(1/3)", 1, sparse::largest, "grid size of formula matrices: m^3 rows, fem 2 m^3, laplace2d m^2");
  }
};

struct State {
  Kernel kernel = Kernel::csr;
  fl::Team team;
  Matrix matrix;
  fl::Part own;               // rows of this process, and elements of x and y
  fl::Array<double> x;        // own, then zeros that padding reads (`block` of them), then in variants with messages what came from others
  fl::Array<double> y;        // own
  double scale = 1;           // of the step
  fl::InputMutator changing;  // elements of the whole x
  double overlapped = -1;     // of variants that do: share of own rows that are multiplied while x travels
  // Variants on a device set these. All of x and y is uploaded; y is downloaded before it is looked at. For these variants x changes
  // between batches only.
  std::function<void()> upload, download;
  fl::Index renewed = -1;  // the last iteration before this batch
};

inline constexpr fl::About about{
    .title = "Sparse matrix times vector",
    .cost =
        "2 flops per entry. Bytes: everything that the format stores including padding, and 8 per element of x and of y (16 if y is "
        "accumulated in memory).",
    .verified =
        "Every element of y, compared with a compensated sum over its row, from the formula or file of the matrix. Again with NaN in "
        "1/32 of x, which may appear only in rows that use such an element.",
    .tolerance = "(entries + 3) eps / 2 times the sum of the terms' magnitudes",
};

inline constexpr fl::Metric metrics[] = {
    {"rate", "Gflop/s", "flops", "rate", 1e-9, "higher"},
    {"bandwidth", "GB/s", "bytes", "rate", 1e-9, "higher"},
};

inline std::string refuse(const Params& p, const fl::Team&) {
  Matrix matrix;
  if (std::string wrong = sparse::read(p.matrix, p.m, matrix); !wrong.empty()) return wrong;
  return refused(p.kernel, matrix);
}

// An element of x that changed last in this iteration, or never (-1).
inline double element(fl::Index i, fl::Index iteration) {
  return fl::uniform(static_cast<std::uint64_t>(i) * 0x100000001b3ull + static_cast<std::uint64_t>(iteration + 1));
}

inline void init(State& s, const Params& p, const fl::Team& team) {
  s.kernel = p.kernel;
  s.team = team;
  if (const std::string wrong = sparse::read(p.matrix, p.m, s.matrix); !wrong.empty()) fl::abort_all(wrong);
  s.own = fl::part(s.matrix.rows(), team.ranks, team.rank);
  s.x = fl::Array<double>(s.own.size() + block);
  s.y = fl::Array<double>(s.own.size());
  s.changing = fl::InputMutator(s.matrix.rows());
  for (fl::Index i = 0; i < s.own.size(); ++i) s.x[i] = element(s.own.begin + i, -1);
  for (fl::Index k = 0; k < block; ++k) s.x[s.own.size() + k] = 0;
}

inline fl::Cost cost(const Params& p, const fl::Team& team) {
  Matrix matrix;
  if (!sparse::read(p.matrix, p.m, matrix).empty()) return {};
  double entries = 0, bytes = 0, most = 0;
  for (int rank = 0; rank < team.ranks; ++rank) {
    const fl::Part own = fl::part(matrix.rows(), team.ranks, rank);
    for (fl::Index i = own.begin; i < own.end; ++i) entries += static_cast<double>(matrix.length(i));
    const double mine =
        stored(p.kernel, matrix, own, team.threads) + (p.kernel == Kernel::symmetric ? 24. : 16.) * static_cast<double>(own.size());
    bytes += mine;
    most = std::max(most, mine);
  }
  return {.flops = 2 * entries, .bytes = bytes, .working_set = most};
}

inline void change(State& s, fl::Index iteration) {
  s.changing.mutate_inputs(iteration, [&](fl::Index i) {
    if (i >= s.own.begin && i < s.own.end) s.x[i - s.own.begin] = element(i, iteration);
  });
}

// The steps of a check have inputs of their own.
inline void mutate_inputs(State& s, fl::Index iteration) {
  s.scale = fl::step_factor(iteration);
  if (iteration < fl::beyond_timing && !s.upload) change(s, iteration);
}

inline fl::Index mutate_between_batches(State& s, fl::Index next) {
  const fl::Index first = s.changing.mutate_between_batches(next, [&](fl::Index iteration) { change(s, iteration); });
  s.renewed = first - 1;
  if (s.upload) s.upload();
  return first;
}

inline void poison(State& s) {
  fl::poison(s.y.data(), s.y.size());
  if (s.upload) s.upload();
}

inline double allowed(const sparse::RowSum& row, double scale) {
  return static_cast<double>(row.terms + 3) * (DBL_EPSILON / 2 * row.magnitude * scale + DBL_MIN);
}

// x(column) is an element; a row whose sum is NaN must be NaN, and no other row.
template <class X>
void compare(State& s, fl::Index last, X x, fl::WorstError& worst) {
  const double scale = fl::step_factor(last);
  if (s.download) s.download();
  for (fl::Index i = s.own.begin; i < s.own.end; ++i) {
    sparse::RowSum row;
    s.matrix.row(i, [&](fl::Index column, double value) { row.add(value, x(column)); });
    if (fills(s.kernel)) {  // its blocks' other row has their columns, too
      const fl::Index other = s.own.begin + ((i - s.own.begin) ^ 1);
      if (other < s.own.end) s.matrix.row(other, [&](fl::Index column, double) { row.magnitude += 0 * x(column); });
    }
    const double found = s.y[i - s.own.begin], wanted = scale * row.value();
    const bool none = std::isnan(row.magnitude);
    const double error = !none ? std::fabs(found - wanted) : std::isnan(found) ? 0 : INFINITY;
    const double allowed = none ? 1 : spmv::allowed(row, scale);
    if (worst.exceeded_by(error, allowed))
      worst.consider(error, allowed, [&] { return fl::text("row %lld is %.17g, should be %.17g", i, found, wanted); });
  }
}

// Whole blocks of columns, where the format has no less.
inline bool holed(const State& s, fl::Index column) {
  const fl::Index width = fills(s.kernel) ? block : 1, place = column / width;
  return place == 0 || place == (s.matrix.rows() - 1) / width || fl::hash(fl::seed() ^ static_cast<std::uint64_t>(place)) % 32 == 0;
}

// A step with another x and holes in it: what reads an element that a row does not have, or one of an earlier step, shows.
inline void compare_with_holes(State& s, fl::WorstError& worst) {
  constexpr fl::Index iteration = fl::beyond_timing + 1;
  const auto x = [&](fl::Index i) { return holed(s, i) ? NAN : element(i, iteration); };
  const std::vector<double> before(s.x.data(), s.x.data() + s.own.size());
  for (fl::Index i = s.own.begin; i < s.own.end; ++i) s.x[i - s.own.begin] = x(i);
  poison(s);
  fl::run_steps(iteration, 1);
  compare(s, iteration, x, worst);
  std::copy(before.begin(), before.end(), s.x.data());
  if (s.upload) s.upload();
}

inline fl::Check check(State& s, fl::Index last) {
  fl::WorstError worst;
  const fl::ChangeLog ages(s.changing, s.upload ? s.renewed : last);
  compare(s, last, [&](fl::Index i) { return element(i, ages.of(i, -1)); }, worst);
  compare_with_holes(s, worst);
  return worst.check(fl::text("all %lld rows are right", s.own.size()));
}

// Reports a digest of all bits of y, the same for any number of processes: formats that add up a row in its order agree.
inline void observe(State& s, fl::Observations& seen) {
  if (s.download) s.download();
  double mine = 0;
  for (fl::Index i = 0; i < s.own.size(); ++i) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &s.y[i], sizeof bits);
    mine += static_cast<double>(fl::hash(bits ^ static_cast<std::uint64_t>(s.own.begin + i) << 32) >> 44);
  }
  seen.value("fingerprint", fl::total(mine));
  if (s.overlapped >= 0) seen.value("overlapped", s.overlapped);
}

}  // namespace spmv
