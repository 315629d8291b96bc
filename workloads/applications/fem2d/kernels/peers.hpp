// What a solver library is given: the free unknowns numbered process after process, the matrix row by row from element matrices, the
// right-hand side; and the solution that it returns.
//
// Nodes of the Dirichlet boundary are known and have no row: their couplings are in the right-hand side, which is the residual of the
// start vector, so that a library that begins at zero begins where the other variants do.
#pragma once

#include <chrono>

#include "assembled.hpp"
#include "messages.hpp"

namespace fem2d {

// Seconds since it was made: of what is prepared before all steps, and so is in no phase of them.
class Clock {
 public:
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count(); }

 private:
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

// A node belongs to the lower-left of the blocks that share it. A block's free nodes are a rectangle, numbered row by row.
class Numbers {
 public:
  explicit Numbers(const State& s) : b_(s.blocks[0]), columns_(s.cut.columns), last_(cells(s.level + 1)) {
    fl::Index next = 0;
    for (int number = 0; number < s.cut.blocks(); ++number) {
      patches_.push_back(patch_of(s, number, next));
      next += patches_.back().width * patches_.back().height;
    }
  }

  fl::Index first() const { return own().first; }
  fl::Index count() const { return own().width * own().height; }
  bool free(fl::Index j) const { return !(b_.bottom && j == 0) && !(b_.top && j == b_.r.ny); }

  // Returns the number of node (i, j) of this process's block; j is free.
  fl::Index of(fl::Index i, fl::Index j) const {
    const bool left = i == 0 && b_.i0 > 0, below = j == 0 && b_.j0 > 0;
    const Patch& p = patches_[static_cast<std::size_t>(b_.number - (left ? 1 : 0) - (below ? columns_ : 0))];
    return p.first + (b_.j0 + j - p.j0) * p.width + (b_.i0 + i - p.i0);
  }

  bool owned(fl::Index number) const { return number >= first() && number < first() + count(); }

  // visit(i, j) in the order of the numbers.
  template <class Visit>
  void each_owned(Visit visit) const {
    for (fl::Index j = own().j0 - b_.j0; j < own().j0 - b_.j0 + own().height; ++j)
      for (fl::Index i = own().i0 - b_.i0; i <= b_.r.nx; ++i) visit(i, j);
  }

  // How many entries each row of this process has, by where the column is: among its own numbers or elsewhere.
  template <class Int>
  void sizes(std::vector<Int>& here, std::vector<Int>& elsewhere) const {
    constexpr int steps[9][2] = {{0, 0}, {-1, 0}, {1, 0}, {0, -1}, {0, 1}, {-2, 0}, {2, 0}, {0, -2}, {0, 2}};
    const Patch& p = own();
    each_owned([&](fl::Index i, fl::Index j) {
      Int inside = 0, outside = 0;
      for (int k = 0; k < (i % 2 == 0 && j % 2 == 0 ? 9 : 5); ++k) {
        const fl::Index x = b_.i0 + i + steps[k][0], y = b_.j0 + j + steps[k][1];
        if (x < 0 || x > last_ || y <= 0 || y >= last_) continue;
        const bool mine = x >= p.i0 && x < p.i0 + p.width && y >= p.j0 && y < p.j0 + p.height;
        ++(mine ? inside : outside);
      }
      here.push_back(inside);
      elsewhere.push_back(outside);
    });
  }

 private:
  struct Patch {
    fl::Index i0, j0, width, height, first;
  };

  const Patch& own() const { return patches_[static_cast<std::size_t>(b_.number)]; }

  static Patch patch_of(const State& s, int number, fl::Index next) {
    const int column = number % s.cut.columns, row = number / s.cut.columns;
    const auto line = [&](int p, int parts) { return s.cut.line(p, parts) << (s.level + 1 - s.cut.base); };
    const fl::Index i0 = line(column, s.cut.columns) + (column > 0 ? 1 : 0), j0 = line(row, s.cut.rows) + 1;  // row 0 is known
    const fl::Index i1 = line(column + 1, s.cut.columns), j1 = line(row + 1, s.cut.rows) - (row == s.cut.rows - 1 ? 1 : 0);
    return {i0, j0, i1 - i0 + 1, j1 - j0 + 1, next};
  }

  const Block& b_;
  int columns_;
  fl::Index last_;
  std::vector<Patch> patches_;
};

// r, additive on shared nodes, becomes accumulated.
inline void accumulate(State& s) {
  Block& b = s.blocks[0];
  Mail mail(s, Mail::whole);
  Shared shared(b);
  shared.pack();
  mail.swap();
  shared.accumulate();
}

// add(row, columns, values, count) for every free node of the block: its own elements' part, to be added to that of the neighbours.
// Returns the right-hand side at the nodes that this process owns, for g = 1.
template <class Int, class Add>
std::vector<double> each_matrix_row(State& s, const Numbers& numbers, Add add) {
  Block& b = s.blocks[0];
  Matrix matrix;
  matrix.reserve(b);
  const bool whole = matrix.assemble(b, s.level) < 1e-12;  // else a coupling was lost: the check must report it
  for (fl::Index j = 0; j <= b.r.ny; ++j)
    for (fl::Index i = 0; i <= b.r.nx; ++i) {
      double right = s.manufactured ? s.load[0].at(i, j) : 0;
      std::array<Int, 9> columns;
      std::array<double, 9> values;
      Int count = 0;
      if (numbers.free(j))
        matrix.each_entry(i, j, [&](fl::Index column, fl::Index row, double value) {
          if (numbers.free(row)) {
            columns[static_cast<std::size_t>(count)] = static_cast<Int>(numbers.of(column, row));
            values[static_cast<std::size_t>(count++)] = value;
          } else if (b.top && row == b.r.ny) {
            right -= value;  // u = 1 there
          }
        });
      b.r.at(i, j) = !numbers.free(j) ? 0 : whole ? right : NAN;
      if (count > 0) add(static_cast<Int>(numbers.of(i, j)), columns.data(), values.data(), count);
    }
  accumulate(s);
  std::vector<double> right;
  numbers.each_owned([&](fl::Index i, fl::Index j) { right.push_back(b.r.at(i, j)); });
  return right;
}

// x from the values at the nodes that this process owns. No residual is kept: a library's own has no additive form.
inline void take_solution(State& s, const Numbers& numbers, const double* values) {
  Block& b = s.blocks[0];
  b.r.clear();
  numbers.each_owned([&](fl::Index i, fl::Index j) { b.r.at(i, j) = *values++; });
  accumulate(s);
  for (fl::Index j = 0; j <= b.x.ny; ++j) {
    if (numbers.free(j))
      std::copy_n(b.r.row(j), b.x.nx + 1, b.x.row(j));
    else
      std::fill_n(b.x.row(j), b.x.nx + 1, b.top && j == b.x.ny ? s.g : 0);
  }
}

}  // namespace fem2d
