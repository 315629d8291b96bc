// The matrix as a code without our stencils has it: assembled from element matrices into compressed rows, additive over blocks.
#pragma once

#include <cstdint>

#include "solver.hpp"

namespace fem2d {

// Columns are places in the memory of a grid, so that a product reads the vector where it is. Couplings that vanish on this mesh
// (over the diagonal) are left out of the pattern: 9 entries a vertex and 5 a mid-point, 6 on average.
class Matrix {
 public:
  void reserve(const Block& b) {
    nx_ = b.s.nx;
    ny_ = b.s.ny;
    stride_ = b.s.stride();
    const fl::Index nodes = (nx_ + 1) * (ny_ + 1);
    begin_ = fl::Array<std::int64_t>(nodes + 1);
    const fl::Index vertices = (nx_ / 2 + 1) * (ny_ / 2 + 1);
    column_ = fl::Array<std::int32_t>(5 * nodes + 4 * vertices);
    value_ = fl::Array<double>(column_.size());
  }

  // Pattern and values; returns the largest coupling that has no place in the pattern, which must vanish.
  double assemble(const Block& b, fl::Index level) {
    lay_out();
    std::fill(value_.begin(), value_.end(), 0.0);
    const fem2d::Place place(b, level);
    double dropped = 0;
    each_element(b.s, [&](const Element& e) {
      const Matrix6 matrix = stiffness(Shape(place.corners(e)));
      for (std::size_t a = 0; a < 6; ++a)
        for (std::size_t k = 0; k < 6; ++k)
          if (double* slot = find(number(e[a].i, e[a].j), spot(e[k].i, e[k].j)))
            *slot += matrix[a][k];
          else
            dropped = std::max(dropped, std::abs(matrix[a][k]));
    });
    return dropped;
  }

  // q = A s in row j of the nodes; returns s^T q.
  double apply_row(fl::Index j, const Grid& s, double* __restrict q) const {
    const double* v = s.row(0);
    const double* here = s.row(j);
    double energy = 0;
    const std::int64_t* begin = begin_.data() + number(0, j);
    for (fl::Index i = 0; i <= nx_; ++i) {
      double sum = 0;
      for (std::int64_t k = begin[i]; k < begin[i + 1]; ++k) sum += value_[k] * v[column_[k]];
      q[i] = sum;
      energy += sum * here[i];
    }
    return energy;
  }

  // visit(i, j, value) for the entries of row (i, j).
  template <class Visit>
  void each_entry(fl::Index i, fl::Index j, Visit visit) const {
    const fl::Index row = number(i, j);
    for (std::int64_t k = begin_[row]; k < begin_[row + 1]; ++k) {
      const fl::Index place = column_[k];
      visit(place % stride_, place / stride_, value_[k]);
    }
  }

  static bool fits(fl::Index nodes_x, fl::Index nodes_y) { return (nodes_x + 32) * nodes_y < (fl::Index{1} << 31); }

 private:
  fl::Index number(fl::Index i, fl::Index j) const { return j * (nx_ + 1) + i; }
  std::int32_t spot(fl::Index i, fl::Index j) const { return static_cast<std::int32_t>(j * stride_ + i); }

  void lay_out() {
    fl::Index next = 0;
    for (fl::Index j = 0; j <= ny_; ++j)
      for (fl::Index i = 0; i <= nx_; ++i) {
        begin_[number(i, j)] = next;
        const auto add = [&](fl::Index di, fl::Index dj) {
          if (i + di >= 0 && i + di <= nx_ && j + dj >= 0 && j + dj <= ny_) column_[next++] = spot(i + di, j + dj);
        };
        const bool vertex = i % 2 == 0 && j % 2 == 0;
        if (vertex) add(0, -2);
        add(0, -1);
        if (vertex) add(-2, 0);
        add(-1, 0);
        add(0, 0);
        add(1, 0);
        if (vertex) add(2, 0);
        add(0, 1);
        if (vertex) add(0, 2);
      }
    begin_[(nx_ + 1) * (ny_ + 1)] = next;
  }

  double* find(fl::Index row, std::int32_t column) {
    for (std::int64_t k = begin_[row]; k < begin_[row + 1]; ++k)
      if (column_[k] == column) return &value_[k];
    return nullptr;
  }

  fl::Index nx_ = 0, ny_ = 0, stride_ = 0;
  fl::Array<std::int64_t> begin_;
  fl::Array<std::int32_t> column_;
  fl::Array<double> value_;
};

// What an assembled variant keeps between its steps.
class Assembled {
 public:
  void reserve(const Block& b) {
    matrix_.reserve(b);
    product_ = Grid(b.s.nx, b.s.ny);
  }

  // Assembly, then the classic form with the stored matrix.
  template <class Team>
  Outcome solve(State& s, Team& team) {
    const double dropped = assemble(s);
    Outcome outcome = Solver<Team>(s, 0, team).stored(matrix_, product_);
    if (!(dropped < 1e-12)) outcome.rho[0] = NAN;  // a coupling was lost: the check must report it
    return outcome;
  }

 private:
  double assemble(const State& s) {
    const fl::In assembling(phases("assembly"));
    return matrix_.assemble(s.blocks[0], s.level);
  }

  Matrix matrix_;
  Grid product_;
};

inline std::string needs_small_indices(const Params& p) {
  if (Matrix::fits(cells(p.level + 1) + 1, cells(p.level + 1) + 1)) return "";
  return fl::text("this variant of fem2d needs level 10 or less: its column numbers have 31 bits");
}

}  // namespace fem2d
